import { runTool } from '#server/media/ffmpeg/tools.ts';
import { testTools as tools } from './media-job.ts';

/** Luma PSNR over all pictures of a clip as a forgiving decoder shows it against another, in dB. */
export async function lumaPsnr(file: string, truth: string): Promise<number> {
  const read = '-hide_banner -threads 1'.split(' ');
  const graph = '[0:v]settb=1/90000[a];[1:v]settb=1/90000[b];[a][b]psnr';
  const args = [...read, '-i', file, '-threads', '1', '-i', truth, '-lavfi', graph, '-f', 'null', '-'];
  const { stderr } = await runTool('compare', tools.ffmpeg, args);
  return Number(/PSNR y:(\S+)/.exec(stderr)?.[1]);
}
