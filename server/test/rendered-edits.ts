import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { probe, type MediaInfo } from '#server/media/probe/probe.ts';
import { runTool } from '#server/media/ffmpeg/tools.ts';
import type { NewPicture, PictureEdit } from '#server/pipeline/repair/picture-edit.ts';
import { smartRender, type SmartRenderResult } from '#server/pipeline/repair/smart-render/smart-render.ts';
import { testTools as tools } from './media-job.ts';
import { renderLimits } from './rendered-clips.ts';

interface PacketTimes {
  /** Stream ticks. */
  readonly pts: number;
  /** Stream ticks. */
  readonly dts: number;
  /** Whether the picture is shown, and not hidden by an edit list. */
  readonly isShown: boolean;
}

/** Times of the coded pictures in decode order. */
export const packetTimes = async (file: string): Promise<PacketTimes[]> =>
  (await packetsAndFrames(file)).packets;

/**
 * Times of the coded pictures in decode order, and what the decoder says about each picture, read in one go.
 * @param entries ffprobe's names of what it should say about a picture; it decodes only where there are any
 * @returns `frames`: one line for each, display order
 */
export async function packetsAndFrames(
  file: string,
  entries: readonly string[] = [],
): Promise<{ packets: PacketTimes[]; frames: string[] }> {
  const frameEntries = entries.length > 0 ? `:frame=${entries.join(',')}` : '';
  const { stdout } = await runTool('packets', tools.ffprobe, [
    ...`-v error -select_streams v:0 -show_entries packet=pts,dts,flags${frameEntries} -of csv`.split(' '),
    file,
  ]);
  const lines = stdout.split('\n');
  const packets = lines.flatMap((line) => {
    const [section, pts, dts, flags] = line.split(',');
    return section === 'packet'
      ? [{ pts: Number(pts), dts: Number(dts), isShown: !flags?.includes('D') }]
      : [];
  });
  return { packets, frames: lines.filter((line) => line.startsWith('frame,')) };
}

/** Packet times of the displayed pictures in display order, stream ticks. */
export const timesShown = (packets: readonly PacketTimes[]): number[] =>
  packets
    .filter(({ isShown }) => isShown)
    .map(({ pts }) => pts)
    .sort((a, b) => a - b);

/** `timesShown` of a file. */
export const shownTimes = async (file: string): Promise<number[]> => timesShown(await packetTimes(file));

export interface Rendered {
  readonly info: MediaInfo;
  readonly output: string;
  readonly result: SmartRenderResult;
  readonly shares: number[];
}

/** Applies an edit to a clip through `smartRender`; its files are written to `folder` under `name`. */
export async function renderEdit(
  folder: string,
  file: string,
  name: string,
  edit: PictureEdit,
): Promise<Rendered> {
  const workDir = path.join(folder, `${name}-work`);
  await mkdir(workDir, { recursive: true });
  const info = await probe(tools, file, 'mov');
  const output = path.join(folder, `${name}-out.${path.extname(file).slice(1)}`);
  const shares: number[] = [];
  const result = await smartRender({
    inputPath: file,
    outputPath: output,
    workDir,
    info,
    edit,
    tools,
    limits: renderLimits,
    onProgress: (share) => shares.push(share),
  });
  return { info, output, result, shares };
}

/** A picture of the original, shown at another time. */
export const original = (ptsTicks: number, frame: number): NewPicture => ({
  ptsTicks,
  pixels: { kind: 'original', frame },
});

/** Replaces 44-47 by holding 43, adds two pictures before 70 and removes 90-92 with their time. */
export function threeChanges(times: readonly number[]): PictureEdit {
  const at = (frame: number) => times[frame] ?? 0;
  const gap = (at(70) - at(69)) / 3;
  return [
    {
      firstFrame: 44,
      endFrame: 48,
      pictures: [44, 45, 46, 47].map((frame) => original(at(frame), 43)),
      shiftAfterTicks: 0,
    },
    {
      firstFrame: 70,
      endFrame: 70,
      pictures: [1, 2].map((step) => original(Math.round(at(69) + gap * step), 69)),
      shiftAfterTicks: 0,
    },
    { firstFrame: 90, endFrame: 93, pictures: [], shiftAfterTicks: at(90) - at(93) },
  ];
}

/** Original number of each picture of the result, null for a new one, and its planned time. */
export function expectedPictures(times: readonly number[], edit: PictureEdit) {
  const out: { from: number | null; pts: number }[] = [];
  let shift = 0;
  let next = 0;
  for (const span of edit) {
    for (; next < span.firstFrame; next++) out.push({ from: next, pts: (times[next] ?? 0) + shift });
    for (const picture of span.pictures) out.push({ from: null, pts: picture.ptsTicks });
    next = span.endFrame;
    shift += span.shiftAfterTicks;
  }
  for (; next < times.length; next++) out.push({ from: next, pts: (times[next] ?? 0) + shift });
  return out;
}
