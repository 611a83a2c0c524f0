import type { IdeaDto, LeaderDto } from '#common/api/ideas.ts';
import type { Idea } from '#db/models/idea.ts';
import type { User } from '#db/models/user.ts';

/** An idea with what the list query joins to it. */
export interface IdeaRow extends Idea {
  readonly authorName?: string;
  readonly authorReputation?: number;
  readonly votedByMe?: number | boolean;
}

/** Name shown for people who gave none. */
export const ANONYMOUS = 'Anonymous';

/** Row -> idea. Another name than the account's shows nothing of the account (D-97). */
export function toIdeaDto(row: IdeaRow, readerId: string): IdeaDto {
  const underOwnName = row.userName.toLowerCase() === row.authorName?.toLowerCase();
  return {
    id: row.id,
    text: row.text,
    userName: row.userName,
    createdAt: new Date(row.createdAt).toISOString(),
    votes: row.votes,
    status: row.status,
    reputation: underOwnName ? (row.authorReputation ?? 0) : 0,
    votedByMe: Boolean(row.votedByMe),
    mine: row.userId === readerId,
  };
}

/** Row -> entry of the leaderboard; no address, no plan. */
export function toLeaderDto(user: User): LeaderDto {
  return { id: user.id, username: user.username, reputation: user.reputation };
}
