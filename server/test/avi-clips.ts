import { readFile, writeFile } from 'node:fs/promises';

/** A chunk of an AVI file in memory: where its header begins, and its stated size. */
export interface PlacedChunk {
  readonly name: string;
  readonly at: number;
  readonly sizeBytes: number;
}

/** Lists and chunks of an AVI file with one RIFF part; the chunks of a list follow the list. */
export function placedChunks(bytes: Buffer): PlacedChunk[] {
  const found: PlacedChunk[] = [];
  for (let at = 12; at + 8 <= bytes.length;) {
    const [name, sizeBytes] = [bytes.toString('latin1', at, at + 4), bytes.readUInt32LE(at + 4)];
    found.push({ name, at, sizeBytes });
    at += name === 'LIST' ? 12 : 8 + sizeBytes + (sizeBytes & 1);
  }
  return found;
}

/** Changes a copy of an AVI file. */
export async function changeAvi(
  inputPath: string,
  outputPath: string,
  change: (bytes: Buffer, chunks: readonly PlacedChunk[]) => Buffer,
): Promise<void> {
  const bytes = await readFile(inputPath);
  await writeFile(outputPath, change(bytes, placedChunks(bytes)));
}

/** Delays the start of a stream by its header (`dwStart`), ms. */
export function startLater(
  bytes: Buffer,
  chunks: readonly PlacedChunk[],
  stream: number,
  ms: number,
): Buffer {
  const header = chunks.filter(({ name }) => name === 'strh')[stream];
  if (!header) throw new Error('No such stream.');
  const [scale, rate] = [bytes.readUInt32LE(header.at + 28), bytes.readUInt32LE(header.at + 32)];
  bytes.writeUInt32LE(Math.round((ms * rate) / scale / 1000), header.at + 36);
  return bytes;
}
