import { toSeconds } from '#server/media/ffmpeg/ffmpeg-plan.ts';
import { MediaToolError, runTool, type ToolPaths } from '#server/media/ffmpeg/tools.ts';
import { drawFilter } from './burn-plan.ts';

/** Width of the trial picture, pixels; text takes the same share of it as of the clip. */
const TRIAL_WIDTH = 480;
/** Luma of black with a margin; text is far brighter. */
const BLACK_MOST = 60;

export interface DrawTrial {
  readonly tools: ToolPaths;
  readonly assPath: string;
  readonly fontPath: string;
  readonly size: { readonly width: number; readonly height: number };
  /** A time at which a caption is shown. */
  readonly atMs: number;
  readonly signal: AbortSignal;
}

/**
 * Draws one caption on black and checks that something is visible, because the renderer continues silently when it
 * finds no font.
 * @throws MediaToolError when nothing was drawn, or ffmpeg failed
 */
export async function mustDraw({ tools, assPath, fontPath, size, atMs, signal }: DrawTrial): Promise<void> {
  const height = Math.max(2, 2 * Math.round((TRIAL_WIDTH * size.height) / size.width / 2));
  const source = `color=c=black:s=${TRIAL_WIDTH}x${height}:r=25:d=1`;
  const draw = `setpts=PTS+${toSeconds(atMs)}/TB,${drawFilter(assPath, fontPath)},signalstats,metadata=mode=print:file=-`;
  const args = ['-nostdin', '-hide_banner', '-loglevel', 'error', '-f', 'lavfi', '-i', source, '-vf', draw];
  const { stdout } = await runTool(
    'try to draw a caption',
    tools.ffmpeg,
    [...args, ...'-frames:v 1 -f null -'.split(' ')],
    {
      signal,
    },
  );
  const brightest = Number(/signalstats\.YMAX=(\d+)/.exec(stdout)?.[1] ?? 0);
  if (brightest <= BLACK_MOST) throw new MediaToolError('tool_failed', 'no caption was drawn');
}
