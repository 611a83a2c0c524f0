/** What a key does in the player. */
export type PlayerAction =
  | { readonly do: 'toggle' | 'mute' | 'captions' | 'fullscreen' | 'help' | 'compare' | 'start' | 'end' }
  | { readonly do: 'skip'; readonly seconds: number }
  | { readonly do: 'frame'; readonly frames: 1 | -1 }
  | { readonly do: 'span'; readonly direction: 1 | -1 };

const ACTIONS: ReadonlyMap<string, PlayerAction> = new Map<string, PlayerAction>([
  [' ', { do: 'toggle' }],
  ['k', { do: 'toggle' }],
  ['j', { do: 'skip', seconds: -10 }],
  ['l', { do: 'skip', seconds: 10 }],
  ['arrowleft', { do: 'skip', seconds: -5 }],
  ['arrowright', { do: 'skip', seconds: 5 }],
  [',', { do: 'frame', frames: -1 }],
  ['.', { do: 'frame', frames: 1 }],
  ['home', { do: 'start' }],
  ['end', { do: 'end' }],
  ['[', { do: 'span', direction: -1 }],
  [']', { do: 'span', direction: 1 }],
  ['p', { do: 'span', direction: -1 }],
  ['n', { do: 'span', direction: 1 }],
  ['b', { do: 'compare' }],
  ['m', { do: 'mute' }],
  ['c', { do: 'captions' }],
  ['f', { do: 'fullscreen' }],
  ['?', { do: 'help' }],
]);

interface KeyPress {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** The action of a key press, or null; combinations with Ctrl, Alt or Meta are left to the browser. */
export function actionOf({ key, ctrlKey, metaKey, altKey }: KeyPress): PlayerAction | null {
  if (ctrlKey || metaKey || altKey) return null;
  return ACTIONS.get(key.toLowerCase()) ?? null;
}

/** Whether an element takes text, so that letters typed there are not shortcuts. */
export function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['range', 'radio', 'checkbox'].includes(target.type);
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName);
}

/** Tolerance, so that a jump from a mark reaches the previous one and not the same again. */
const SLACK_MS = 300;

/** Start of the next or previous marked place from `nowMs`, or null when there is none in that direction. */
export function neighbourSpan(startsMs: readonly number[], nowMs: number, direction: 1 | -1): number | null {
  const sorted = [...startsMs].toSorted((a, b) => a - b);
  const found =
    direction === 1
      ? sorted.find((start) => start > nowMs + 1)
      : sorted.findLast((start) => start < nowMs - SLACK_MS);
  return found ?? null;
}
