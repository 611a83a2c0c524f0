import { readdir } from 'node:fs/promises';
import { z } from 'zod';
import { BenchInputError } from './bench-options.ts';

const bench = z.object({
  run: z.custom<(args: string[]) => Promise<void>>((value) => typeof value === 'function'),
});

/** `npm run bench -- <name> [options]`: runs `<name>.bench.ts` of this folder. */
async function main([name, ...args]: string[]): Promise<void> {
  const files = await readdir(import.meta.dirname);
  const names = files.filter((file) => file.endsWith('.bench.ts')).map((file) => file.slice(0, -9));
  if (name === undefined || !names.includes(name)) {
    console.error(`npm run bench -- <${names.sort().join(' | ')}> [options]`);
    process.exitCode = 2;
    return;
  }
  const { run } = bench.parse(await import(`./${name}.bench.ts`));
  try {
    await run(args);
  } catch (error) {
    if (!isMistaken(error)) throw error;
    console.error(`${error.message}\nThe options stand at the head of server/bench/${name}.bench.ts.`);
    process.exitCode = 2;
  }
}

/** Whether the error lies in the given options, in which case a stack trace does not help. */
const isMistaken = (error: unknown): error is Error =>
  error instanceof BenchInputError ||
  (error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS'));

await main(process.argv.slice(2));
