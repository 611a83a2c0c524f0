import { z } from 'zod';
import { defectKind } from '../report.ts';
import { defineEndpoint, idParams } from './endpoint.ts';

/** A mended place as the comparison shows it; the order is that of the report. */
export const comparisonPlace = z.object({
  defectId: z.string(),
  kind: defectKind,
  /** The defect on the time axis of the original, ms. */
  startMs: z.number(),
  endMs: z.number(),
  /** The same on the time axis of the comparison, ms; the end is where the comparison stops showing it. */
  previewStartMs: z.number(),
  previewEndMs: z.number(),
});
export type ComparisonPlace = z.infer<typeof comparisonPlace>;

/**
 * A stretch that both files show from the same moment on. Where a repair took time away or gave some back, the
 * side that is through first plays on until the other is, and the next piece begins together again.
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
 * What the comparison holds: one clip whose picture is the original (left half) beside the result (right half),
 * and whose sound is the original (left channel) beside the result (right channel), so that one decoder keeps
 * both in step.
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
  /** Mended places of the report that did not fit in. */
  leftOut: z.number().int().nonnegative(),
});
export type ComparisonLayout = z.infer<typeof comparisonLayout>;

/**
 * `none`: nothing was mended, so nothing can be compared. `absent`: not made yet; it is made when somebody asks.
 * `layout` and `url` are there when `ready`; `message` says why it `failed`.
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

/** The before/after clip itself, in ranges. */
export const comparisonMediaPath = '/api/videos/:id/comparison.mp4';
