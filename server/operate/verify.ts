import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { repairReport } from '#common/report.ts';
import { findTools } from '#server/media/find-tools.ts';
import { verifyClaims } from '#server/pipeline/publish/verify-claims.ts';

const USAGE = 'npm run verify -- <original> <repaired> <report.json>';

/**
 * Holds a repair report against its two files on any machine with ffmpeg and prints one line a claim.
 * @returns exit code: 0 all confirmed, 1 something is not, 2 the call itself cannot work
 */
async function main(args: readonly string[]): Promise<number> {
  const [originalPath, repairedPath, reportPath] = args.map((arg) => path.resolve(arg));
  if (!originalPath || !repairedPath || !reportPath) {
    console.error(USAGE);
    return 2;
  }
  const found = await findTools({
    ffmpegPath: process.env.FFMPEG_PATH ?? null,
    ffprobePath: process.env.FFPROBE_PATH ?? null,
    searchPath: process.env.PATH ?? '',
  });
  if (!found) {
    console.error('ffmpeg and ffprobe were not found. Install them, or set FFMPEG_PATH and FFPROBE_PATH.');
    return 2;
  }
  const parsed = repairReport.safeParse(JSON.parse(await readFile(reportPath, 'utf8')));
  if (!parsed.success) {
    console.error(`${reportPath} is not a repair report: ${parsed.error.message}`);
    return 2;
  }
  const report = parsed.data;
  if (report.tools.ffmpeg !== found.version) {
    console.log(`Note: the report was made with ffmpeg ${report.tools.ffmpeg}, this is ${found.version}.`);
  }
  const claims = await verifyClaims({ originalPath, repairedPath, report, tools: found.paths });
  for (const { claim, confirmed, detail } of claims) {
    console.log(`${confirmed ? 'confirmed    ' : 'NOT CONFIRMED'}  ${claim}. ${detail}`);
  }
  const failed = claims.filter(({ confirmed }) => !confirmed).length;
  console.log(`\n${claims.length - failed} of ${claims.length} claims confirmed.`);
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
