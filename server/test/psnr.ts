import { runTool } from '#server/media/ffmpeg/tools.ts';
import { testTools as tools } from './media-job.ts';

/**
 * Luma PSNR, dB, over all pictures of a clip against another, decoded without dropping damaged ones.
 * @param frame compares only this picture, display number
 */
export async function lumaPsnr(file: string, truth: string, frame?: number): Promise<number> {
  // For HEVC, ffmpeg 8 and newer drop pictures that refer to missing ones unless told otherwise.
  const read = '-hide_banner -threads 1 -flags:v +output_corrupt'.split(' ');
  const only = frame === undefined ? '' : `,select='eq(n,${frame})'`;
  const graph = `[0:v]settb=1/90000${only}[a];[1:v]settb=1/90000${only}[b];[a][b]psnr`;
  const args = [...read, '-i', file, '-threads', '1', '-i', truth, '-lavfi', graph, '-f', 'null', '-'];
  const { stderr } = await runTool('compare', tools.ffmpeg, args);
  return Number(/PSNR y:(\S+)/.exec(stderr)?.[1]);
}
