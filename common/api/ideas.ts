import { z } from 'zod';
import { IDEA_NAME_MAX, IDEA_TEXT_MAX } from '../limits.ts';
import { defineEndpoint, id, idParams } from './endpoint.ts';

export const ideaDto = z.object({
  id,
  text: z.string(),
  userName: z.string(),
  createdAt: z.string(),
  votes: z.number().int().default(0),
  status: z.string().nullish(),
  /** Real reputation of the author; 0 for an anonymous or differently named author (D-96, D-97). */
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

export const ideasApi = {
  list: defineEndpoint({
    method: 'GET',
    path: '/api/ideas',
    summary: 'Ideas of the board, most wanted first.',
    response: z.array(ideaDto),
  }),
  create: defineEndpoint({
    method: 'POST',
    path: '/api/ideas',
    summary: 'Adds an idea.',
    body: z.object({
      text: z.string().trim().min(1, 'Your idea description is required.').max(IDEA_TEXT_MAX),
      userName: z.string().trim().max(IDEA_NAME_MAX).optional(),
    }),
    response: ideaDto,
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
