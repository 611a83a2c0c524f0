import { z } from 'zod';
import { IDEA_NAME_MAX, IDEA_TEXT_MAX } from '../limits.ts';
import { MESSAGES } from '../messages.ts';
import { defineEndpoint, id, idParams } from './endpoint.ts';

export const ideaDto = z.object({
  id,
  text: z.string(),
  userName: z.string(),
  createdAt: z.string(),
  votes: z.number().int().default(0),
  status: z.string().nullish(),
  /** Real reputation of the author; 0 for an anonymous or differently named author. */
  reputation: z.number().int().default(0),
  votedByMe: z.boolean().default(false),
  mine: z.boolean().default(false),
});
export type IdeaDto = z.infer<typeof ideaDto>;

export const leaderDto = z.object({
  id,
  username: z.string(),
  reputation: z.number().int().default(0),
});
export type LeaderDto = z.infer<typeof leaderDto>;

/** States that an operator can give an idea (specification section 4). */
export const IDEA_STATUSES = ['considering', 'planned', 'in-progress', 'completed'] as const;

/** Options of the board; without any, the call returns all ideas, most wanted first. */
export const ideasQuery = z.object({
  sort: z.enum(['wanted', 'newest']).optional(),
  mine: z.enum(['1']).optional(),
  /** A status, or `open` for ideas without one. */
  status: z.string().max(20).optional(),
  limit: z.coerce.number().int().min(1).max(500).optional(),
  offset: z.coerce.number().int().min(0).max(1_000_000).optional(),
});
export type IdeasQuery = z.infer<typeof ideasQuery>;

/** Number of ideas on the board, in total and per status. */
export const ideaCounts = z.object({
  total: z.number().int(),
  statuses: z.array(z.object({ status: z.string(), ideas: z.number().int() })),
});
export type IdeaCounts = z.infer<typeof ideaCounts>;

export const ideasApi = {
  list: defineEndpoint({
    method: 'GET',
    path: '/api/ideas',
    summary: 'Ideas of the board, most wanted first.',
    query: ideasQuery.optional(),
    response: z.array(ideaDto),
  }),
  create: defineEndpoint({
    method: 'POST',
    path: '/api/ideas',
    summary: 'Adds an idea.',
    status: 201,
    body: z.object({
      text: z
        .string(MESSAGES.ideaMissing)
        .trim()
        .min(1, MESSAGES.ideaMissing)
        .max(IDEA_TEXT_MAX, `An idea has at most ${IDEA_TEXT_MAX} characters.`),
      userName: z
        .string()
        .trim()
        .max(IDEA_NAME_MAX, `A name has at most ${IDEA_NAME_MAX} characters.`)
        .nullish(),
    }),
    response: ideaDto,
  }),
  counts: defineEndpoint({
    method: 'GET',
    path: '/api/ideas/counts',
    summary: 'How many ideas the board holds, in all and by status.',
    response: ideaCounts,
  }),
  similar: defineEndpoint({
    method: 'GET',
    path: '/api/ideas/similar',
    summary: 'Up to five ideas that read like a text, the closest first.',
    query: z.object({ text: z.string().trim().min(1).max(IDEA_TEXT_MAX) }),
    response: z.array(ideaDto),
  }),
  vote: defineEndpoint({
    method: 'POST',
    path: '/api/ideas/:id/vote',
    summary: 'Votes for an idea, once per person; repeating changes nothing.',
    params: idParams,
    response: ideaDto,
  }),
  unvote: defineEndpoint({
    method: 'DELETE',
    path: '/api/ideas/:id/vote',
    summary: 'Takes the vote back.',
    params: idParams,
    response: ideaDto,
  }),
  leaderboard: defineEndpoint({
    method: 'GET',
    path: '/api/users/leaderboard',
    summary: 'People by reputation, highest first.',
    response: z.array(leaderDto),
  }),
} as const;
