import { type Defect, REPORT_SCHEMA, type MediaSummary, type RepairReport } from '#common/report.ts';

/** Eight seconds of 720p at 30 pictures a second. */
export const FAKE_MEDIA: MediaSummary = {
  container: 'mov',
  durationMs: 8000,
  videoCodec: 'h264',
  width: 1280,
  height: 720,
  rotation: 0,
  frameCount: 240,
  frameRate: 30,
  variableFrameRate: false,
  audioCodec: 'aac',
  sampleRateHz: 48_000,
  channels: 2,
};

/** A complete report of a repair without defects; tests change the parts that matter to them. */
export function fakeReport(change: Partial<RepairReport> = {}): RepairReport {
  const untouched = { treatment: 'untouched', reason: null, unitsKept: null, unitsTotal: null } as const;
  return {
    schema: REPORT_SCHEMA,
    createdAt: '2026-05-04T10:00:00.000Z',
    outcome: 'repaired',
    original: { sha256: 'a'.repeat(64), sizeBytes: 1, media: FAKE_MEDIA },
    result: { sha256: 'b'.repeat(64), sizeBytes: 1, media: FAKE_MEDIA },
    tools: { reelmend: 'test', ffmpeg: 'test' },
    video: untouched,
    audio: untouched,
    steps: [],
    defects: [],
    checks: [],
    captions: [],
    notes: [],
    ...change,
  };
}

/** Wind that was suppressed in a whole clip. */
export const suppressedWind = (seconds: number): Defect => ({
  id: 'wind_noise-1',
  kind: 'wind_noise',
  startMs: 0,
  endMs: seconds * 1000,
  firstFrame: null,
  lastFrame: null,
  count: 1,
  confidence: 1,
  detector: 'detect-wind-noise',
  measure: { name: 'background', unit: 'dBFS', threshold: -40, before: -36, after: -56 },
  action: 'suppressed_wind',
  outcome: 'repaired',
  explanation: '',
});
