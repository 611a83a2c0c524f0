import { z } from 'zod';
import { defineEndpoint, idParams } from './endpoint.ts';

// The specification names the fields but not their types: seconds may arrive as numbers.
const word = z.union([z.string(), z.number()]).transform(String);
const words = z.array(word).default([]);

/** What picture and sound of a clip show about its story (specification section 3). */
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
 * State of the analysis of the current version. `none`: nobody has requested it; `message` says why it `failed`. A
 * storyline that is being made again can still be read.
 */
export const storylineStateDto = z.object({
  state: z.enum(['none', 'waiting', 'working', 'ready', 'failed']),
  /** Whole percent of the clip analysed, measured. */
  progress: z.number().int().min(0).max(100),
  message: z.string().nullable(),
  /** True when the readable storyline is that of an earlier version with the same times. */
  earlier: z.boolean().optional(),
  /**
   * Whether there is a storyline to read, so that clients need not request it in vain; omitted by servers that do not
   * say.
   */
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
