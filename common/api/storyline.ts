import { z } from 'zod';
import { defineEndpoint, idParams } from './endpoint.ts';

// The specification names the fields and not their types: seconds may come as numbers.
const word = z.union([z.string(), z.number()]).transform(String);
const words = z.array(word).default([]);

/** What picture and sound of a clip tell about its story (specification section 3, D-64). */
export const storylineDto = z.object({
  title: z.string(),
  summary: z.string(),
  /** 0 to 100: share of the clip with usable signal. */
  confidence: z.number().min(0).max(100),
  genre: z.string().default(''),
  mood: z.string().default(''),
  themes: words,
  characters: z
    .array(z.object({ name: z.string(), description: z.string().default(''), appearances: words }))
    .default([]),
  scenes: z
    .array(
      z.object({
        timestamp: word,
        duration: word,
        description: z.string(),
        emotions: words,
        keyObjects: words,
        actions: words,
      }),
    )
    .default([]),
});
export type StorylineDto = z.infer<typeof storylineDto>;

/**
 * Where the analysis of the current version stands. `none`: nobody has asked for it; `message` says why it `failed`.
 * A storyline that is being made anew can still be read.
 */
export const storylineStateDto = z.object({
  state: z.enum(['none', 'waiting', 'working', 'ready', 'failed']),
  /** Whole percent of the clip looked at, measured. */
  progress: z.number().int().min(0).max(100),
  message: z.string().nullable(),
  /** The storyline that is read meanwhile is that of an earlier version with the same times. */
  earlier: z.boolean().optional(),
  /** Whether there is a storyline to read, so that nobody asks in vain; left out by a server that does not tell. */
  readable: z.boolean().optional(),
});
export type StorylineStateDto = z.infer<typeof storylineStateDto>;

export const storylineApi = {
  get: defineEndpoint({
    method: 'GET',
    path: '/api/videos/:id/storyline',
    summary: 'The storyline of a video; 404 while there is none (plan Creator Pro+).',
    params: idParams,
    response: storylineDto,
  }),
  analyze: defineEndpoint({
    method: 'POST',
    path: '/api/videos/:id/storyline/analyze',
    summary: 'Starts the storyline analysis; the result is read by GET (plan Creator Pro+).',
    params: idParams,
    response: z.object({ jobId: z.string() }),
  }),
  state: defineEndpoint({
    method: 'GET',
    path: '/api/videos/:id/storyline/state',
    summary: 'Where the storyline analysis of a video stands (plan Creator Pro+).',
    params: idParams,
    response: storylineStateDto,
  }),
} as const;
