import type { FileHandle } from 'node:fs/promises';
import { H264Error } from '#server/media/h264/h264-error.ts';
import type { DisplayOrder } from '#server/media/mp4/display-order.ts';
import type { PixelSource } from '../picture-edit.ts';
import { encodeEither, planDirect } from './smart-render-direct.ts';
import {
  encodeSegment,
  type EncodeInput,
  type EncodedSegment,
  type TargetSequence,
} from './smart-render-encode.ts';
import { AVC_WARM_UP, createGroupDecoder, type OriginalsInput } from './smart-render-originals.ts';
import { spoolFrom } from './smart-render-encoder.ts';
import { openPixels } from './smart-render-pixels.ts';
import type { Cut } from './smart-render-plan.ts';
import type { ClipSource } from './smart-render-source.ts';
import type { MediaLimits } from '../../worker-protocol.ts';

export interface CoderInput extends Omit<OriginalsInput, 'decodeFrom' | 'threads'> {
  readonly order: DisplayOrder;
  readonly limits: MediaLimits;
  /** Coded pictures are appended here. */
  readonly spool: FileHandle;
  /** Share of the expected pictures that are encoded, 0 to 1. */
  readonly onProgress?: (share: number) => void;
}

export interface PicturesToCode {
  readonly target: TargetSequence;
  /** Distinguishes the working files of several calls. */
  readonly label: string;
  /** Where decoding must start to get the originals. */
  readonly decodeFrom: Cut;
  /** `original` numbers are places in display order. */
  readonly wanted: readonly PixelSource[];
  readonly place: Pick<EncodeInput, 'neighbourIdrIds' | 'standIns'>;
  /** The clip that the originals come from, if some of its pictures are already exchanged. */
  readonly source?: ClipSource;
}

/** Encodes stretches and single pictures of one clip into one spool file. */
export interface Coder {
  /** @throws H264Error unless there is exactly one coded picture for each; MediaToolError when a tool fails */
  encode(pictures: PicturesToCode): Promise<EncodedSegment>;
  /** Reserves this many bytes of the spool for the caller; returns their offset. */
  take(bytes: number): number;
  /** Sets how many pictures will be encoded in total from here on, for the progress. */
  expect(count: number): void;
  /** Places of originals that could not be decoded; the picture before replaces each. */
  held(): readonly number[];
}

export function createCoder(input: CoderInput): Coder {
  const heldPlaces: number[] = [];
  const take = spoolFrom(0);
  let doneCount = 0;
  let total: number | null = null;
  return {
    async encode({ target, label, decodeFrom, wanted, place, source = input.source }) {
      const { pictureBytes, workDir } = input;
      const { threads } = input.limits;
      const decoder = createGroupDecoder({ ...input, source, decodeFrom, threads, warmUp: AVC_WARM_UP });
      const pixels = openPixels({ decoder, workDir, pictureBytes, label }, wanted);
      let ownCount = 0;
      const onPicture = () => {
        ownCount += 1;
        doneCount += 1;
        if (total !== null) input.onProgress?.(doneCount / total);
      };
      const result = await encodeEither(
        await planDirect(target, decoder, wanted, label),
        () => pixels.pictures,
        wanted.length,
        (pictures) => {
          doneCount -= ownCount;
          ownCount = 0;
          return encodeSegment({ ...input, target, pictures, ...place, take, onPicture });
        },
      );
      if (result.pictures.length !== wanted.length) {
        throw new H264Error('The encoder did not give one picture for each planned one.');
      }
      heldPlaces.push(...pixels.held);
      return result;
    },
    take,
    expect(count) {
      [doneCount, total] = [0, count];
    },
    held: () => heldPlaces.toSorted((a, b) => a - b),
  };
}
