import { atom } from 'jotai';

const PREFIX = 'reelmend.kept.';

/**
 * Words that are not on the server yet, kept in the browser tab: a reload loses none of them, nor a phone that puts the
 * tab away. They end with the tab, or with the session.
 */
export interface KeptWords {
  /** What was kept under this name, unchecked; undefined for nothing. */
  read(name: string): unknown;
  /** Keeps something that JSON can hold under this name, or forgets it (null). */
  keep(name: string, words: unknown): void;
  /** Forgets everything that was kept. */
  forget(): void;
}

/** What is kept here; where the browser stores nothing, the words live as long as the page. */
export const keptWordsAtom = atom(createKeptWords);

function createKeptWords(): KeptWords {
  const unstored = new Map<string, unknown>();
  return {
    read(name) {
      if (unstored.has(name)) return unstored.get(name);
      try {
        const text = sessionStorage.getItem(PREFIX + name);
        return text === null ? undefined : JSON.parse(text);
      } catch {
        return undefined;
      }
    },
    keep(name, words) {
      unstored.delete(name);
      try {
        if (words === null) sessionStorage.removeItem(PREFIX + name);
        else sessionStorage.setItem(PREFIX + name, JSON.stringify(words));
      } catch {
        if (words !== null) unstored.set(name, words);
      }
    },
    forget() {
      unstored.clear();
      try {
        for (const key of Object.keys(sessionStorage))
          if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
      } catch {
        // Nothing was kept there.
      }
    },
  };
}
