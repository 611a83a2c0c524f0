import { MESSAGES } from '#common/messages.ts';
import { remainingMinutes } from '#common/format.ts';
import { MOST_PLACES, MOST_SOUND_SHIFT_MS, type NoticedKind } from '#common/noticed.ts';
import { comparisonTexts } from './comparison.ts';

const working = (percent: number) => `Mending what you marked, ${percent} percent`;

/** Texts of the panel for what somebody still sees or hears in a finished clip. */
export const noticedTexts = {
  title: 'Still something wrong?',
  lead: 'Stop the clip where you see it and mark the place. It is judged again there, with less doubt than before.',
  places: {
    title: 'Picture',
    add: { freeze: 'It freezes here', jump: 'It jumps here' } satisfies Record<NoticedKind, string>,
    kinds: { freeze: 'Freeze', jump: 'Jump' } satisfies Record<NoticedKind, string>,
    /** Name of the list. */
    list: 'Marked places',
    none: 'Nothing is marked yet.',
    at: (kind: string, time: string) => `${kind} at ${time}`,
    go: 'Go there',
    goLabel: (place: string) => `Go there: ${place}`,
    remove: 'Remove',
    removeLabel: (place: string) => `Remove: ${place}`,
    /** What became of the last press. */
    said: {
      /** Before anything is marked. */
      first: 'Mark it when you see it; a moment late is fine.',
      marked: (place: string) => `${place} is marked.`,
      removed: (place: string) => `${place} is not marked any more.`,
      already: (place: string) => `${place} is marked already.`,
      full: `${MOST_PLACES} places are the most at once. Have these mended first, then mark the others.`,
      outdated: 'The clip has changed, and its times with it: the marks were taken away.',
    },
    comparing: `Choose “${comparisonTexts.close}” above the picture: places are marked in the clip itself.`,
    mending: 'These places are being mended.',
  },
  sound: {
    title: 'Sound',
    help: 'Does the sound come after the picture? Move it earlier.',
    range: 'Move the sound',
    scale: ['← earlier', '0', 'later →'],
    number: 'Milliseconds',
    numberLabel: 'Milliseconds by which the sound moves, minus for earlier',
    bad: `Whole milliseconds from −${MOST_SOUND_SHIFT_MS} to ${MOST_SOUND_SHIFT_MS}, please.`,
    effect: (shiftMs: number) =>
      shiftMs === 0
        ? 'The sound stays as it is.'
        : `The sound will come ${Math.abs(shiftMs)} ms ${shiftMs < 0 ? 'earlier' : 'later'}.`,
    after: 'Listen to it afterwards: one press takes it back.',
    none: 'This clip has no sound that could be early or late.',
  },
  mend: 'Mend what I marked',
  asking: 'Asking...',
  nothing: 'Mark a place or move the sound first.',
  busyElsewhere: 'Quick fixes are being applied. Mark places when they are done, as times may change.',
  run: {
    progress: 'What you marked',
    working,
    workingFor: (percent: number, secondsLeft: number | null) =>
      `${working(percent)}${secondsLeft === null ? '' : `, ${remainingMinutes(secondsLeft)} min remaining`}`,
    waiting: 'What you marked waits for its turn.',
    cancelLabel: 'Cancel the mending',
  },
  end: {
    done: 'Mended again',
    nothingDone: 'Nothing was changed',
    cancelled: 'Mending cancelled',
    cancelledDetail: MESSAGES.clipKept,
    failed: 'What you marked could not be mended',
    failedDetail: 'Please try again.',
  },
  /** Name of the outcomes. */
  outcomes: 'What became of it',
  report: 'Report',
  reportLabel: 'Report of what became of your marks',
  takeBack: 'Take it back',
  takenBack: 'You took it back. That version is kept and can be restored.',
} as const;
