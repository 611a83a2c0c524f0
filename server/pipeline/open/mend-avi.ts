import { constants } from 'node:fs';
import { copyFile, open, type FileHandle } from 'node:fs/promises';
import { walkChunks } from '#server/media/avi/avi-chunks.ts';
import { type AviHead, readAviHead } from '#server/media/avi/avi-head.ts';
import { judgeAvi } from '#server/media/avi/avi-health.ts';
import { type AviEntry, type AviIndex, readAviIndex } from '#server/media/avi/avi-index.ts';
import { type AviPiece, reconcile } from '#server/media/avi/avi-reconcile.ts';
import { writeAvi } from '#server/media/avi/write-avi.ts';
import { writeFully } from '#server/media/mp4/file-bytes.ts';

export interface MendAviInput {
  readonly inputPath: string;
  /** Where to write a repaired copy. */
  readonly outputPath: string;
  readonly signal?: AbortSignal;
}

/**
 * Repairs an AVI file whose chunk headers or index are damaged, by means of the other. AVI states twice where its
 * pictures and sound lie: in a header before each, and in an index at the end. Players count pictures and sound as they
 * come, so an overwritten header shifts everything after it, and some trust an index that leads nowhere.
 * @returns what was done, in a sentence; null if nothing was written
 * @throws the signal's reason when aborted
 */
export async function mendAvi({ inputPath, outputPath, signal }: MendAviInput): Promise<string | null> {
  const file = await open(inputPath, 'r');
  try {
    const head = await readAviHead(file);
    if (head === null || head.streams.length === 0) return null;
    const walk = await walkChunks(file, head, signal);
    const index = await readAviIndex(file, head, walk.chunks);
    const health = judgeAvi(walk, index);
    if (index === null || health === 'whole') return null;
    if (health === 'index') {
      await copyFile(inputPath, outputPath, constants.COPYFILE_FICLONE);
      await withoutIndex(outputPath, head, index);
      return NO_INDEX;
    }
    const entries = index.entries.filter((entry) => isBelievable(entry, head));
    const pieces = reconcile(entries, walk.chunks, Math.min(index.at, head.moviEnd));
    const lost = pieces.filter(({ state, sizeBytes }) => state !== 'whole' && sizeBytes > 0);
    const listedBytes = pieces.reduce((sum, piece) => sum + piece.sizeBytes, 0);
    // Damaged index entries may ask for any number of bytes.
    if (lost.length === 0 || listedBytes > 2 * head.fileBytes) return null;
    await writeAvi({ file, head, pieces, outputPath, signal });
    return describe(head, lost);
  } finally {
    await file.close();
  }
}

const isBelievable = ({ name, sizeBytes }: AviEntry, { streams, fileBytes }: AviHead) =>
  Number(name.slice(0, 2)) < streams.length && sizeBytes <= fileBytes;

const NO_INDEX = 'The index of the file points at the wrong places and was left out.';

/** Replaces each index by padding. */
async function withoutIndex(path: string, { superIndexes }: AviHead, index: AviIndex): Promise<void> {
  const file: FileHandle = await open(path, 'r+');
  try {
    for (const at of [index.at, ...superIndexes]) await writeFully(file, Buffer.from('JUNK', 'latin1'), at);
  } finally {
    await file.close();
  }
}

function describe({ streams }: AviHead, lost: readonly AviPiece[]): string {
  const isSound = ({ name }: AviPiece) => streams[Number(name.slice(0, 2))]?.kind === 'sound';
  const named = (pieces: readonly AviPiece[]) => {
    const sounds = pieces.filter(isSound).length;
    const pictures = counted(pieces.length - sounds, 'frame', 'frames');
    return [pictures, counted(sounds, 'piece of sound', 'pieces of sound')]
      .filter((part) => part !== null)
      .join(' and ');
  };
  const [cut, other] = [
    lost.filter(({ state }) => state === 'cut'),
    lost.filter(({ state }) => state !== 'cut'),
  ];
  const sentences = [
    ...(cut.length > 0 ? [`Bytes are missing inside of ${named(cut)}.`] : []),
    ...(other.length > 0
      ? [
          `Where ${named(other)} ${other.length === 1 ? 'is' : 'are'} listed, something else stands in the file.`,
        ]
      : []),
  ];
  return `${sentences.join(' ')} Each keeps its place, so that all behind it comes when it should.`;
}

function counted(count: number, one: string, more: string): string | null {
  return count === 0 ? null : `${count} ${count === 1 ? one : more}`;
}
