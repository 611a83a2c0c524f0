import type { CueProblemKind, VideoCue } from '#common/captions.ts';
import type { ImportNotes } from '#common/parse-captions.ts';
import type { ReadingHint } from '#web/data/caption-edits.ts';

const cues = (n: number) => (n === 1 ? '1 cue' : `${n} cues`);

const HINTS: Readonly<Record<ReadingHint, string>> = {
  fast: 'Too fast to read: over 20 characters a second.',
  long: 'More than two lines: over 84 characters.',
  short_time: 'On screen for less than 0.7 s.',
  long_time: 'On screen for more than 7 s.',
};
const PROBLEMS: Readonly<Record<CueProblemKind, string>> = {
  ends_early: 'It must end after it begins.',
  overlaps: 'It begins before the cue above ends.',
  too_long: 'It is longer than 500 characters. Split it.',
  bad_characters: 'It holds control characters.',
  too_late: 'It ends later than a clip can.',
};
const SOURCES: Readonly<Record<VideoCue['source'], string | null>> = {
  timing_only: null,
  manual: null,
  imported: 'Imported',
  script: 'From your script',
  speech_model: 'Heard by the speech engine',
};

/** Texts of the caption editor. */
export const captionTexts = {
  title: 'Captions',
  note: 'Times come from who speaks when; the words are yours. They stay with the video, whatever version is current.',
  loading: 'Loading the captions...',
  fetchFailed: 'The captions could not be loaded.',
  retry: 'Retry',
  noSound: 'This clip has no sound, so there is nothing to time. You can add cues by hand or import a file.',
  noSpeech:
    'Nobody speaks in this clip, as far as could be heard. You can add cues by hand or import a file.',
  empty: 'There are no cues. Add one, import a file or paste your script.',
  count: (all: number, worded: number) => `${cues(all)}, ${worded} with words`,
  list: 'Cues',
  cue: (n: number) => `Cue ${n}`,
  jump: (n: number, time: string) => `Cue ${n}: jump to ${time}`,
  words: (n: number) => `Words of cue ${n}`,
  wordsUnknown: 'Speech. Type the words',
  start: 'Start',
  end: 'End',
  useNow: 'Use current time',
  useNowLabel: (which: 'start' | 'end', n: number) => `Use current time as ${which} of cue ${n}`,
  timeLabel: (which: 'start' | 'end', n: number) => `${which === 'start' ? 'Start' : 'End'} of cue ${n}`,
  badTime: 'Write it as 01:23.450, minutes first.',
  figures: (chars: number, perSecond: number) =>
    `${chars} ${chars === 1 ? 'character' : 'characters'}, ${perSecond} a second`,
  hints: HINTS,
  problems: PROBLEMS,
  sources: SOURCES,
  unsure: 'Check the words',
  split: 'Split',
  merge: 'Merge with next',
  remove: 'Delete',
  splitLabel: (n: number) => `Split cue ${n} at the cursor`,
  mergeLabel: (n: number) => `Merge cue ${n} with the next`,
  removeLabel: (n: number) => `Delete cue ${n}`,
  undo: 'Undo',
  redo: 'Redo',
  add: 'Add cue here',
  did: {
    split: 'Cue split.',
    merge: 'Cues merged.',
    remove: 'Cue deleted.',
    add: 'Cue added.',
    noRoom: 'There is no room for a cue at this place.',
    full: 'A video has at most 2000 cues.',
    shift: 'All cues moved.',
    undo: 'Taken back.',
    redo: 'Done again.',
  },
  keysTitle: 'Keys',
  keys: [
    { keys: ['Enter'], action: 'New cue behind this one, or on to the next' },
    { keys: ['Shift', 'Enter'], action: 'New line' },
    { keys: ['Ctrl', 'Enter'], action: 'Split at the cursor' },
    { keys: ['Alt', '↑ ↓'], action: 'Previous or next cue' },
    { keys: ['Ctrl', 'Z'], action: 'Undo; with Shift, redo' },
  ],
  importFile: 'Import a file',
  importHint: 'SubRip (.srt) or WebVTT (.vtt). It takes the place of all cues; Undo brings them back.',
  importBad: 'No cue was found in this file. It must be SubRip (.srt) or WebVTT (.vtt).',
  importLarge: 'This file is too large for captions.',
  importMany: 'This file has more than 2000 cues, which is more than a video can have.',
  imported: (n: number, notes: ImportNotes) =>
    [
      `${cues(n)} imported.`,
      ...(notes.styled > 0 ? [`Styles and positions of ${cues(notes.styled)} were dropped.`] : []),
      ...(notes.retimed > 0
        ? [`The end of ${cues(notes.retimed)} was moved so that none lies over the next.`]
        : []),
      ...(notes.joined > 0 ? [`${cues(notes.joined)} began together with another and joined it.`] : []),
      ...(notes.divided > 0 ? [`${cues(notes.divided)} was too long and divided.`] : []),
    ].join(' '),
  script: 'Paste your script',
  scriptLabel: 'Your script',
  scriptHint:
    'The words are laid over the speech by how long they take to say, sentence ends towards pauses. The times are an estimate: check them. It takes the place of all cues; Undo brings them back.',
  scriptLay: 'Lay over the speech',
  scriptNone: 'The script is empty, or far too long for the speech in this clip.',
  scriptDone: (n: number) => `The script was laid over the speech: ${cues(n)}.`,
  shift: 'Shift all',
  shiftLabel: 'Seconds to move all cues, negative for earlier',
  shiftBad: 'Write seconds, for example 0.5 or -1.25.',
  shiftDo: 'Move',
  again: 'Times of the speech again',
  againDone: 'The cues are those of the speech again. Undo brings the words back.',
  download: 'Download',
  downloadAs: { vtt: 'WebVTT (.vtt)', srt: 'SubRip (.srt)' },
  saved: (at: string) => `Saved ${at}`,
  unchanged: 'Nothing to save.',
  saving: 'Saving...',
  held: (n: number) => `Not saved: cue ${n} does not fit. Put it right and it is saved.`,
  offline: 'Not saved: the server cannot be reached. It is tried again; keep this page open.',
  refused: (why: string | null) => `Not saved: ${why ?? 'the server refused it.'}`,
  conflict: 'Not saved: these captions were changed in another window meanwhile.',
  keepMine: 'Keep mine',
  takeTheirs: 'Take the others',
} as const;
