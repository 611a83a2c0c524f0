import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { runFfmpeg } from '#server/media/ffmpeg/run-ffmpeg.ts';
import type { ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { probe } from '#server/media/probe/probe.ts';
import { sniffFile } from '#server/media/probe/sniff-container.ts';
import { analysePicture } from '#server/pipeline/analyse/analyse-picture.ts';
import { makeMovingClip, type Scenery } from '#server/test/broken-clips.ts';

/** Clips are cut to this length, so that a folder of long ones can be measured in minutes. */
const CLIP_SECONDS = 10;
/** A clip with fewer pictures is too short to plant defects in. */
const FEWEST_PICTURES = 60;

/** The first seconds of a clip as an MP4 to plant defects in, or the reason why there is none. */
export type PlantingBase =
  | { readonly path: string; readonly codec: 'h264' | 'hevc' }
  | { readonly reason: string };

export interface SourceClip {
  readonly name: string;
  /** The unchanged clip, for counting false alarms. */
  readonly path: string;
  readonly base: PlantingBase;
}

/**
 * Collects the clips of a folder in the order of their names, or makes clips.
 * @param media null for made clips
 * @param most maximum number of clips
 * @param folder where bases and made clips are written
 */
export async function collectSources(
  media: string | null,
  most: number,
  folder: string,
  tools: ToolPaths,
): Promise<SourceClip[]> {
  if (media === null) return (await makeSources(folder, tools)).slice(0, most);
  const sources: SourceClip[] = [];
  for (const name of (await readdir(media)).sort()) {
    if (sources.length === most) break;
    const file = path.resolve(media, name);
    // Files that are already broken tell nothing about planted defects.
    if (name.startsWith('odd-') || !(await stat(file)).isFile()) continue;
    const format = await sniffFile(file);
    const info = format === null ? null : await probe(tools, file, format).catch(() => null);
    if (!info || info.video.length === 0) continue;
    const base = await makeBase(file, path.join(folder, `base-${sources.length}.mp4`), tools);
    sources.push({ name, path: file, base });
  }
  return sources;
}

async function makeSources(folder: string, tools: ToolPaths): Promise<SourceClip[]> {
  const sceneries: Scenery[] = ['pan', 'zoom', 'mover', 'cuts', 'still'];
  const sources: SourceClip[] = [];
  for (const scenery of sceneries) {
    const outputPath = path.join(folder, `${scenery}.mp4`);
    await makeMovingClip({ tools, outputPath, seconds: CLIP_SECONDS, scenery });
    const base: PlantingBase =
      scenery === 'still' ? { reason: 'nothing moves in it' } : { path: outputPath, codec: 'h264' };
    sources.push({ name: scenery, path: outputPath, base });
  }
  return sources;
}

/** Cuts the first seconds by stream copy, so that the clip keeps its own coding. */
async function makeBase(file: string, outputPath: string, tools: ToolPaths): Promise<PlantingBase> {
  const options = ['-map', '0:v:0', '-map', '0:a:0?', '-c', 'copy'];
  options.push('-t', String(CLIP_SECONDS), '-f', 'mp4');
  try {
    await runFfmpeg(
      {
        label: 'cut a clip',
        inputs: [{ path: file }],
        outputs: [{ path: outputPath, options }],
        expectedDurationMs: null,
      },
      { tools },
    );
    const info = await probe(tools, outputPath, 'mov');
    const codec = info.video[0]?.codec;
    if (codec !== 'h264' && codec !== 'hevc') return { reason: `${codec ?? 'no'} video` };
    const { pictures } = await analysePicture({ inputPath: outputPath, info, tools });
    if (pictures === null || pictures.ptsTicks.length < FEWEST_PICTURES) return { reason: 'too short' };
    if (pictures.variableByNature) return { reason: 'of a variable rate' };
    return { path: outputPath, codec };
  } catch {
    return { reason: 'its streams cannot be copied into an MP4' };
  }
}
