import { screen, within } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { Route, Routes } from 'react-router-dom';
import { describe, expect, it } from 'vitest';
import { certificatesApi } from '#common/api/certificates.ts';
import { quickFixesApi } from '#common/api/quick-fixes.ts';
import { videosApi } from '#common/api/videos.ts';
import type { Defect, RepairReport } from '#common/report.ts';
import { renderAt } from '../../test/render.tsx';
import { makeReport, makeVersion, makeVideo } from '../../test/samples.ts';
import { on, refusal, server, signedIn } from '../../test/server.ts';
import { MarkedReportPage } from './marked-report-page.tsx';
import { ReportPage } from './report-page.tsx';

const moved: Defect = {
  id: 'audio_sync-1',
  kind: 'audio_sync',
  startMs: 0,
  endMs: 12_000,
  firstFrame: null,
  lastFrame: null,
  count: 1,
  confidence: 1,
  detector: 'by-hand',
  measure: { name: 'sound moved', unit: 'ms', threshold: null, before: 0, after: -40 },
  action: 'shifted_audio',
  outcome: 'repaired',
  explanation: 'The sound now comes 40 ms earlier.',
};
const marked: Partial<RepairReport> = {
  marked: { places: [], soundShiftMs: -40 },
  steps: [],
  defects: [moved],
  video: { treatment: 'copied', reason: null, unitsKept: 360, unitsTotal: 360 },
  checks: [{ name: 'pictures bit-exact', passed: true, detail: '360 of 360.' }],
};

const { original, result } = makeReport();
const [ORIGINAL, RESULT] = [original.sha256, result.sha256];

function open(at: string, answer: () => Response = () => HttpResponse.json(makeReport(marked))) {
  const video = makeVideo({ id: 'v1', hasReport: true, resultSha256: 'c'.repeat(64) });
  const made = makeVersion({ id: 'n1', kind: 'fixes', hasReport: true, sha256: RESULT });
  const upload = makeVersion({ id: 'original', sha256: ORIGINAL });
  const fixed = makeVersion({ id: 'n2', kind: 'fixes' });
  server.use(
    signedIn(),
    on(videosApi.list, () => HttpResponse.json([video])),
    on(videosApi.report, () => HttpResponse.json(makeReport())),
    on(quickFixesApi.read, () =>
      HttpResponse.json({ run: null, done: [], versions: [upload, fixed, made], exports: [] }),
    ),
    on(certificatesApi.versionReport, answer),
  );
  return renderAt(
    at,
    <Routes>
      <Route path="/videos/:id/report" element={<ReportPage />} />
      <Route path="/videos/:id/report/:versionId" element={<MarkedReportPage />} />
    </Routes>,
  );
}

describe('MarkedReportPage', () => {
  it('tells of the clip before instead of the upload, with its certificate and the report to save', async () => {
    open('/videos/v1/report/n1');
    expect(await screen.findByText('The sound now comes 40 ms earlier.')).toBeInTheDocument();
    expect(screen.getByText('Somebody heard the sound come 40 ms too late.')).toBeInTheDocument();
    const row = document.getElementById('audio_sync-1');
    expect(row && within(row).getByText('found by your ear')).toBeInTheDocument();
    expect(screen.getByText('Every frame is exactly as it was before.')).toBeInTheDocument();
    expect(screen.getAllByText('All of it is what it was before, byte for byte.')).not.toHaveLength(0);
    expect(screen.getByText('The clip before')).toBeInTheDocument();
    expect(screen.queryByText(/uploaded/)).not.toBeInTheDocument();
    // Moving a sound takes none of the steps of a repair.
    expect(screen.queryByRole('heading', { name: 'Steps' })).not.toBeInTheDocument();
    const href = (name: string) => screen.getByRole('link', { name }).getAttribute('href');
    expect(href('Certificate')).toBe('/api/videos/v1/versions/n1/certificate');
    expect(href('Download JSON')).toBe('/api/videos/v1/versions/n1/report');
    await screen.findByRole('link', { name: 'Download the clip before' });
    expect(href('Download the clip before')).toBe('/api/videos/v1/original');
    expect(href('Download the clip after')).toBe('/api/videos/v1/versions/n1/download');
    expect(href('Back to the repair report')).toBe('/videos/v1/report');
  });

  it('says so where there is no such version', async () => {
    open('/videos/v1/report/n9', () => refusal('not_found'));
    expect(await screen.findByText(/There is no report of this version/)).toBeVisible();
  });

  it('is reached from the repair report, once the clip has been changed', async () => {
    open('/videos/v1/report');
    const list = await screen.findByRole('list', { name: 'Reports of what you marked' });
    const links = within(list).getAllByRole('link', { name: 'What became of your marks' });
    expect(links.map((link) => link.getAttribute('href'))).toEqual(['/videos/v1/report/n1']);
  });
});
