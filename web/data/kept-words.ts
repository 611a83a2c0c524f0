const PREFIX = 'reelmend.kept.';

/**
 * Words that are not on the server yet, kept in the browser tab: a reload loses none of them, nor a phone that puts the
 * tab away. They end with the tab, or with the session. Where a browser keeps nothing, they live as long as the page.
 *
 * @returns what was kept under this name, unchecked; undefined for nothing
 */
export function readKept(name: string): unknown {
  try {
    const text = sessionStorage.getItem(PREFIX + name);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Keeps something that JSON can hold under this name, or forgets it (null). */
export function keepWords(name: string, words: unknown): void {
  try {
    if (words === null) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(words));
  } catch {
    // Blocked or full: the page itself still has them.
  }
}

/** Forgets everything that was kept. */
export function forgetWords(): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  } catch {
    // Nothing was kept there.
  }
}
