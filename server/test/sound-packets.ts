import { runTool } from '#server/media/ffmpeg/tools.ts';
import { testTools } from './media-job.ts';

/** SHA-256 of each coded packet of the first sound of a file, as ffmpeg lists them. */
export async function soundPacketsOf(file: string): Promise<string[]> {
  const args = '-map 0:a:0 -c copy -f framehash -hash sha256 -'.split(' ');
  const { stdout } = await runTool('hash', testTools.ffmpeg, ['-v', 'quiet', '-i', file, ...args]);
  return stdout.split('\n').flatMap((line) => (line.startsWith('0') ? line.split(',').slice(5, 6) : []));
}
