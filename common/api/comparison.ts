import { z } from 'zod';
import { defectKind } from '../report.ts';
import { defineEndpoint, idParams } from './endpoint.ts';

/** A repaired place as the comparison shows it; places are ordered as in the report. */
export const comparisonPlace = z.object({
  defectId: z.string(),
  kind: defectKind,
  /** Span of the defect on the time axis of the original, ms. */
  startMs: z.number(),
  endMs: z.number(),
  /** The same span on the time axis of the comparison, ms; at the end the comparison stops showing it. */
  previewStartMs: z.number(),
  previewEndMs: z.number(),
});
export type ComparisonPlace = z.infer<typeof comparisonPlace>;

/**
 * A stretch that both files show from the same moment on. Where a repair removed or restored time, the side that
 * finishes first plays on until the other has finished, and the next piece starts together again.
 */
export const comparisonPiece = z.object({
  originalStartMs: z.number(),
  originalEndMs: z.number(),
  resultStartMs: z.number(),
  resultEndMs: z.number(),
  previewStartMs: z.number(),
  previewEndMs: z.number(),
});
export type ComparisonPiece = z.infer<typeof comparisonPiece>;

/**
 * Layout of the comparison clip. Its picture shows the original in the left half and the result in the right half; its
 * sound is the original in the left channel and the result in the right, so one decoder keeps both in sync.
 */
export const comparisonLayout = z.object({
  /** Size of one half in pixels. */
  width: z.number().int(),
  height: z.number().int(),
  frameRate: z.number(),
  durationMs: z.number(),
  hasSound: z.boolean(),
  places: z.array(comparisonPlace),
  pieces: z.array(comparisonPiece),
  /** Number of repaired places in the report that did not fit in. */
  leftOut: z.number().int().nonnegative(),
});
export type ComparisonLayout = z.infer<typeof comparisonLayout>;

/**
 * `none`: nothing was repaired, so there is nothing to compare. `absent`: not made yet; a request makes it. `layout`
 * and `url` are set when `ready`; `message` says why it `failed`.
 */
export const comparisonDto = z.object({
  state: z.enum(['none', 'absent', 'waiting', 'making', 'ready', 'failed']),
  /** Whole percent of the pictures written, measured. */
  progress: z.number().int().min(0).max(100),
  message: z.string().nullable(),
  url: z.string().nullable(),
  layout: comparisonLayout.nullable(),
});
export type ComparisonDto = z.infer<typeof comparisonDto>;

export const comparisonApi = {
  read: defineEndpoint({
    method: 'GET',
    path: '/api/videos/:id/comparison',
    summary: 'State of the before/after clip of the current version.',
    params: idParams,
    response: comparisonDto,
  }),
  make: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/comparison',
    summary: 'Asks for the before/after clip of the current version; it is made once and kept.',
    params: idParams,
    response: comparisonDto,
  }),
} as const;

/** The before/after clip itself; supports ranges. */
export const comparisonMediaPath = '/api/videos/:id/comparison.mp4';
