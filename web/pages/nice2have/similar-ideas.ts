import type { IdeaDto } from '#common/api/ideas.ts';

const MIN_WORD_LENGTH = 4;
const MIN_SHARED_SHARE = 0.4;
const MAX_SHOWN = 3;

function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  // The first six letters stand for the word, so that "caption" finds "captions" and "captioning".
  return new Set(words.filter((word) => word.length >= MIN_WORD_LENGTH).map((word) => word.slice(0, 6)));
}

/** Ideas that share at least 40 % of the typed words (by their first letters), most alike first, three at most. */
export function findSimilar(text: string, ideas: readonly IdeaDto[]): IdeaDto[] {
  const typed = wordsOf(text);
  if (typed.size < 2) return [];
  return ideas
    .map((idea) => {
      const words = wordsOf(idea.text);
      const shared = [...typed].filter((word) => words.has(word)).length;
      return { idea, share: shared / typed.size };
    })
    .filter(({ share }) => share >= MIN_SHARED_SHARE)
    .sort((a, b) => b.share - a.share || b.idea.votes - a.idea.votes)
    .slice(0, MAX_SHOWN)
    .map(({ idea }) => idea);
}
