import { describe, expect, it } from 'vitest';
import type { IdeaDto } from '#common/api/ideas.ts';
import { findSimilar } from './similar-ideas.ts';

const idea = (id: string, text: string, votes = 0): IdeaDto => ({
  id,
  text,
  votes,
  userName: 'Anonymous',
  createdAt: '2026-01-01T00:00:00.000Z',
  reputation: 0,
  votedByMe: false,
  mine: false,
});

const board = [
  idea('a', 'Batch processing of many videos at once'),
  idea('b', 'Captions in several languages', 4),
  idea('c', 'Dark captions with a background'),
];

describe('findSimilar', () => {
  it('finds ideas that share most of the typed words, in any form of the word', () => {
    expect(findSimilar('captioning in other languages', board).map(({ id }) => id)).toEqual(['b']);
  });

  it('says nothing for a single word', () => expect(findSimilar('captions', board)).toEqual([]));

  it('says nothing when nothing is alike', () =>
    expect(findSimilar('export directly to podcasts', board)).toEqual([]));
});
