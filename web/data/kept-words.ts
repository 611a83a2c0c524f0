const PREFIX = 'reelmend.kept.';
/** What the browser would not store; it ends with the page. */
const unstored = new Map<string, unknown>();

/**
 * Words that are not on the server yet, kept in the browser tab: a reload loses none of them, nor a phone that puts the
 * tab away. They end with the tab, or with the session. Where a browser keeps nothing, they live as long as the page.
 *
 * @returns what was kept under this name, unchecked; undefined for nothing
 */
export function readKept(name: string): unknown {
  if (unstored.has(name)) return unstored.get(name);
  try {
    const text = sessionStorage.getItem(PREFIX + name);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Keeps something that JSON can hold under this name, or forgets it (null). */
export function keepWords(name: string, words: unknown): void {
  unstored.delete(name);
  try {
    if (words === null) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(words));
  } catch {
    if (words !== null) unstored.set(name, words);
  }
}

/** Forgets everything that was kept. */
export function forgetWords(): void {
  unstored.clear();
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  } catch {
    // Nothing was kept there.
  }
}
