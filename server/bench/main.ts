import { readdir } from 'node:fs/promises';
import { z } from 'zod';

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
  await run(args);
}

await main(process.argv.slice(2));
