import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';

const keptFile = z.object({ name: z.string(), sha256: z.string() });
const keptStep = z.object({ value: keptFile, files: z.array(keptFile), tookMs: z.number() });
const ledger = z.object({ key: z.string(), steps: z.record(z.string(), keptStep) });
type Ledger = z.infer<typeof ledger>;

/** Output of a step: a JSON value and the media files it made, all inside the work folder. */
export interface StepOutput<T> {
  readonly value: T;
  /** Absolute paths of files that must still be there, unchanged, for the value to be valid. */
  readonly files: readonly string[];
  /** SHA-256 of the files that the step has already hashed, by path. */
  readonly hashes?: ReadonlyMap<string, string>;
}

export interface StepResult<T> {
  readonly value: T;
  readonly tookMs: number;
  /** True if the output of an earlier attempt was reused. */
  readonly resumed: boolean;
}

export interface StepStore {
  /**
   * Returns the stored output of `name` if its files are still intact and its value has the shape; else runs `work` and
   * stores its output. A kill inside `work` leaves nothing that the next attempt would trust.
   */
  run<T>(name: string, shape: z.ZodType<T>, work: () => Promise<StepOutput<T>>): Promise<StepResult<T>>;
  /** Absolute path inside the work folder. */
  file(name: string): string;
}

/**
 * Keeps outputs of finished steps as files with SHA-256 in `steps.json`, so that a killed job continues after its last
 * finished step. The ledger is replaced by rename after fsync: it is the old one or the new one.
 * @param key names the input and the program; a different key invalidates every stored output
 */
export async function openStepStore(workDir: string, key: string): Promise<StepStore> {
  await mkdir(workDir, { recursive: true });
  const ledgerPath = path.join(workDir, 'steps.json');
  let state: Ledger = await readLedger(ledgerPath, key);
  const file = (name: string) => path.join(workDir, name);

  return {
    file,
    async run<T>(
      name: string,
      shape: z.ZodType<T>,
      work: () => Promise<StepOutput<T>>,
    ): Promise<StepResult<T>> {
      const kept = state.steps[name];
      if (kept && (await isWhole(workDir, [kept.value, ...kept.files]))) {
        // Intact files of an older program with the same version number may still have another shape.
        const stored = shape.safeParse(JSON.parse(await readFile(file(kept.value.name), 'utf8')));
        if (stored.success) return { value: stored.data, tookMs: kept.tookMs, resumed: true };
      }
      const startedAt = performance.now();
      const made = await work();
      const tookMs = Math.round(performance.now() - startedAt);
      const valueName = `${name}.json`;
      await writeAtomically(file(valueName), JSON.stringify(made.value));
      const files = [];
      for (const item of made.files) {
        files.push({
          name: path.relative(workDir, item),
          sha256: made.hashes?.get(item) ?? (await hashFile(item)),
        });
      }
      const value = { name: valueName, sha256: await hashFile(file(valueName)) };
      state = { key, steps: { ...state.steps, [name]: { value, files, tookMs } } };
      await writeAtomically(ledgerPath, JSON.stringify(state));
      return { value: made.value, tookMs, resumed: false };
    },
  };
}

async function readLedger(ledgerPath: string, key: string): Promise<Ledger> {
  const fresh: Ledger = { key, steps: {} };
  const text = await readFile(ledgerPath, 'utf8').catch(() => null);
  if (text === null) return fresh;
  try {
    const parsed = ledger.parse(JSON.parse(text));
    return parsed.key === key ? parsed : fresh;
  } catch {
    return fresh;
  }
}

async function isWhole(
  workDir: string,
  files: readonly { name: string; sha256: string }[],
): Promise<boolean> {
  for (const item of files) {
    const actual = await hashFile(path.join(workDir, item.name)).catch(() => null);
    if (actual !== item.sha256) return false;
  }
  return true;
}

/** SHA-256 of a file's bytes, hexadecimal, read as a stream. */
export async function hashFile(filePath: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(filePath, { highWaterMark: 1 << 20 })) hash.update(chunk);
  return hash.digest('hex');
}

/** Writes a text file so that a crash leaves the old content or the new one, never a part. */
export async function writeAtomically(filePath: string, text: string): Promise<void> {
  const temporary = `${filePath}.part`;
  const handle = await open(temporary, 'w');
  try {
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  await rename(temporary, filePath);
}
