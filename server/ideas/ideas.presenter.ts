import type { IdeaDto, LeaderDto } from '#common/api/ideas.ts';
import type { Idea } from '#db/models/idea.ts';
import type { User } from '#db/models/user.ts';

/** An idea with the columns that the list query joins. */
export interface IdeaRow extends Idea {
  readonly authorName?: string;
  readonly authorReputation?: number;
  readonly votedByMe?: number | boolean;
}

/** Name shown for authors who gave none. */
export const ANONYMOUS = 'Anonymous';

/** Row -> idea. Under a name other than the account's, nothing of the account is shown. */
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

/** Row -> entry of the leaderboard, without email address and plan. */
export function toLeaderDto(user: User): LeaderDto {
  return { id: user.id, username: user.username, reputation: user.reputation };
}
