import { BaseModel } from '../base-model.ts';

export class Idea extends BaseModel {
  static override tableName = 'ideas';
  static override booleanColumns = ['bonusGiven', 'hidden'];
  declare id: string;
  declare userId: string;
  declare text: string;
  declare userName: string;
  declare status: string | null;
  /** The same transaction keeps it equal to the number of vote rows. */
  declare votes: number;
  declare bonusGiven: boolean;
  declare hidden: boolean;
  declare createdAt: number;
  declare updatedAt: number;
}

/** One vote; unique per user and idea. */
export class IdeaVote extends BaseModel {
  static override tableName = 'idea_votes';
  static override idColumn = ['ideaId', 'userId'];
  declare ideaId: string;
  declare userId: string;
  declare createdAt: number;
}
