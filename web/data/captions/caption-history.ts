import type { Cues } from './caption-edits.ts';
import { mergeCues } from './merge-cues.ts';

/** A state that can be undone to, with the selected cue, so that the change is easy to find. */
interface Step {
  readonly cues: Cues;
  readonly selected: number;
}

export interface CaptionHistory extends Step {
  readonly past: readonly Step[];
  readonly future: readonly Step[];
  /** Successive changes with the same name are undone together, e.g. typing in one cue. */
  readonly joins: string | null;
  /** Rises when the selected cue should take the focus. */
  readonly focus: number;
  /** Text for the live region; the count distinguishes a repetition from silence. */
  readonly said: { readonly text: string; readonly count: number };
}

export interface Edited {
  readonly cues: Cues;
  /** The next selected cue, which takes the focus; omitted to keep the selection. */
  readonly selected?: number;
}

export type CaptionAction =
  | {
      readonly do: 'edit';
      /** @returns null when it cannot be done */
      readonly edit: (cues: Cues) => Edited | null;
      readonly joins?: string;
      readonly say?: string;
      /** Announced when it cannot be done. */
      readonly sayNone?: string;
    }
  | { readonly do: 'select'; readonly index: number; readonly focus?: boolean }
  | { readonly do: 'undo' | 'redo'; readonly say: string }
  /**
   * Changes of somebody else that were merged with the local ones: they are applied to every step, so that undo never
   * reverts them.
   */
  | {
      readonly do: 'merge';
      readonly was: Cues;
      readonly theirs: Cues;
      readonly cues: Cues;
      readonly say: string;
    }
  /** Cues that somebody else saved; taking them can be undone. */
  | { readonly do: 'load'; readonly cues: Cues }
  /** Cues that somebody else saved and that those here replace: the step back leads to them, so that none are lost unseen. */
  | { readonly do: 'replace'; readonly theirs: Cues };

/** Maximum of undo steps: an evening of work, in little memory because steps share their cues. */
const MOST_STEPS = 500;

export function startHistory(cues: Cues): CaptionHistory {
  const said = { text: '', count: 0 };
  return { cues, selected: -1, past: [], future: [], joins: null, focus: 0, said };
}

const say = (state: CaptionHistory, text: string | undefined): CaptionHistory['said'] =>
  text === undefined ? state.said : { text, count: state.said.count + 1 };

/** Applies every change of the captions in the editor. */
export function captionReducer(state: CaptionHistory, action: CaptionAction): CaptionHistory {
  const { past, future } = state;
  const now: Step = { cues: state.cues, selected: state.selected };
  switch (action.do) {
    case 'select': {
      if (action.index === state.selected && action.focus !== true) return state;
      const focus = state.focus + (action.focus === true ? 1 : 0);
      return { ...state, selected: action.index, joins: null, focus };
    }
    case 'merge': {
      const merged = (steps: readonly Step[]): Step[] =>
        steps.flatMap((step) => {
          const cues = mergeCues(action.was, step.cues, action.theirs);
          return cues ? [{ ...step, cues }] : [];
        });
      return {
        ...state,
        cues: action.cues,
        past: merged(past),
        future: merged(future),
        said: say(state, action.say),
      };
    }
    case 'replace': {
      const before: Step = { cues: action.theirs, selected: state.selected };
      return { ...state, past: [...past, before].slice(-MOST_STEPS), future: [], joins: null };
    }
    case 'load':
      return { ...state, cues: action.cues, past: [...past, now], future: [], joins: null };
    case 'undo': {
      const back = past.at(-1);
      if (!back) return state;
      const said = say(state, action.say);
      return { ...state, ...back, past: past.slice(0, -1), future: [now, ...future], joins: null, said };
    }
    case 'redo': {
      const [next, ...rest] = future;
      if (!next) return state;
      return {
        ...state,
        ...next,
        past: [...past, now],
        future: rest,
        joins: null,
        said: say(state, action.say),
      };
    }
    case 'edit': {
      const edited = action.edit(state.cues);
      if (!edited) return { ...state, said: say(state, action.sayNone) };
      const selected = edited.selected ?? state.selected;
      const focus = state.focus + (edited.selected === undefined ? 0 : 1);
      if (edited.cues === state.cues) return { ...state, selected, focus, joins: null };
      const joined = action.joins !== undefined && action.joins === state.joins;
      return {
        cues: edited.cues,
        selected,
        past: joined ? past : [...past, now].slice(-MOST_STEPS),
        future: [],
        joins: action.joins ?? null,
        focus,
        said: say(state, action.say),
      };
    }
  }
}
