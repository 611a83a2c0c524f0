import type { CaptionLineProblem } from '#common/caption-text.ts';
import type { CueProblemKind, VideoCue } from '#common/captions.ts';
import type { ImportNotes } from '#common/parse-captions.ts';
import type { ReadingHint } from '#web/data/captions/caption-edits.ts';

const cues = (n: number) => (n === 1 ? '1 caption' : `${n} captions`);

const HINTS: Readonly<Record<ReadingHint, string>> = {
  fast: 'Too fast to read: over 20 characters a second.',
  long: 'More than two lines: over 84 characters.',
  short_time: 'On screen for less than 0.7 s.',
  long_time: 'On screen for more than 7 s.',
};
const PROBLEMS: Readonly<Record<CueProblemKind, string>> = {
  ends_early: 'It must end after it begins.',
  overlaps: 'It begins before the caption above ends.',
  too_long: 'It is longer than 500 characters. Split it.',
  bad_characters: 'It holds control characters.',
  too_late: 'It ends later than a clip can.',
};
const LINE_PROBLEMS: Readonly<Record<CaptionLineProblem, string>> = {
  ...PROBLEMS,
  too_long: 'its words are longer than 500 characters.',
  ends_early: 'the caption must end after it begins.',
  overlaps: 'the caption begins before the one above ends.',
  bad_characters: 'its words hold control characters.',
  too_late: 'the caption ends later than a clip can.',
  no_time: 'the times are missing. Write them as 00:00:01,000 --> 00:00:02,500.',
  bad_time: 'an hour has 60 minutes, a minute 60 seconds.',
  no_gap: 'leave a blank line before the next caption.',
  settings: 'positions cannot be kept. Only the times belong here.',
  comment: 'notes and styles cannot be kept. Take them out.',
  too_many: 'a video has at most 2000 captions.',
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
  noteOriginal:
    'The original is current: the times are those of its sound, which the repair had moved. The words stay with the video, whatever version is current.',
  loading: 'Loading the captions...',
  fetchFailed: 'The captions could not be loaded.',
  retry: 'Retry',
  noSound:
    'This clip has no sound, so there is nothing to time. You can add captions by hand or import a file.',
  noSpeech:
    'Nobody speaks in this clip, as far as could be heard. You can add captions by hand or import a file.',
  empty: 'There are no captions. Add one, import a file or paste your script.',
  count: (all: number, worded: number) => `${cues(all)}, ${worded} with words`,
  list: 'Captions',
  cue: (n: number) => `Caption ${n}`,
  jump: (n: number, time: string) => `Caption ${n}: jump to ${time}`,
  words: (n: number) => `Words of caption ${n}`,
  wordsUnknown: 'Speech. Type the words',
  start: 'Start',
  end: 'End',
  useNow: 'Use current time',
  useNowLabel: (which: 'start' | 'end', n: number) => `Use current time as ${which} of caption ${n}`,
  timeLabel: (which: 'start' | 'end', n: number) => `${which === 'start' ? 'Start' : 'End'} of caption ${n}`,
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
  splitLabel: (n: number) => `Split caption ${n} at the cursor`,
  mergeLabel: (n: number) => `Merge caption ${n} with the next`,
  removeLabel: (n: number) => `Delete caption ${n}`,
  undo: 'Undo',
  redo: 'Redo',
  add: 'Add caption here',
  playing: 'Playing now',
  raw: {
    open: 'Edit as text',
    hint: 'Every caption is a line of times and the lines of its words, with a blank line behind it. SubRip and WebVTT are both read. Nothing changes before you take the text over; Undo brings the captions back.',
    label: 'All captions as text',
    errors: 'What cannot be taken over',
    error: (line: number, why: string) => `Line ${line}: ${why}`,
    problems: LINE_PROBLEMS,
    state: (n: number, errors: number) =>
      errors === 0
        ? `${cues(n)}, all in order.`
        : errors === 1
          ? '1 line must be put right first.'
          : `${errors} lines must be put right first.`,
    changed:
      'These captions were changed in another window meanwhile. Take the text over again to replace them.',
    take: 'Take over',
    discard: 'Discard the text',
    taken: (n: number) => `The text was taken over: ${cues(n)}.`,
    discarded: 'The text was dropped, the captions are as they were.',
  },
  did: {
    split: 'Caption split.',
    merge: 'Captions merged.',
    remove: 'Caption deleted.',
    add: 'Caption added.',
    noRoom: 'There is no room for a caption at this place.',
    full: 'A video has at most 2000 captions.',
    shift: 'All captions moved.',
    undo: 'Taken back.',
    redo: 'Done again.',
  },
  keysTitle: 'Keys',
  keys: [
    { keys: ['Enter'], action: 'New caption behind this one, or on to the next' },
    { keys: ['Shift', 'Enter'], action: 'New line' },
    { keys: ['Ctrl', 'Enter'], action: 'Split at the cursor' },
    { keys: ['Alt', '↑ ↓'], action: 'Previous or next caption' },
    { keys: ['Ctrl', 'Z'], action: 'Undo; with Shift, redo' },
  ],
  importFile: 'Import a file',
  importHint: 'SubRip (.srt) or WebVTT (.vtt). It takes the place of all captions; Undo brings them back.',
  importBad: 'No caption was found in this file. It must be SubRip (.srt) or WebVTT (.vtt).',
  importLarge: 'This file is too large for captions.',
  importMany: 'This file has more than 2000 captions, which is more than a video can have.',
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
    'The words are laid over the speech by how long they take to say, sentence ends towards pauses. The times are an estimate: check them. It takes the place of all captions; Undo brings them back.',
  scriptLay: 'Lay over the speech',
  scriptNone: 'The script is empty, or far too long for the speech in this clip.',
  scriptDone: (n: number) => `The script was laid over the speech: ${cues(n)}.`,
  shift: 'Shift all times',
  shiftLabel: 'Seconds to move all captions, negative for earlier',
  shiftBad: 'Write seconds, for example 0.5 or -1.25.',
  shiftDo: 'Move',
  again: 'Start over from the speech',
  againDone: 'The captions have the times of the speech again. Undo brings the words back.',
  download: 'Download',
  downloadAs: { vtt: 'WebVTT (.vtt)', srt: 'SubRip (.srt)' },
  saved: (at: string) => `Saved ${at}`,
  unchanged: 'Nothing to save.',
  saving: 'Saving...',
  held: (n: number) => `Not saved: caption ${n} does not fit. Put it right and it is saved.`,
  offline: 'Not saved: the server cannot be reached. It is tried again; keep this page open.',
  refused: (why: string | null) => `Not saved: ${why ?? 'the server refused it.'}`,
  conflict: 'Not saved: these captions were changed in another window meanwhile.',
  hear: {
    none: 'This server has no speech engine, so the words come from you: type them, import a file or paste your script.',
    ask: 'Hear the words',
    again: 'Hear the words again',
    use: 'Put in what was heard',
    used: 'The captions are what the speech engine heard; marked ones need a look. Undo brings the others back.',
    waiting: 'The speech engine waits for its turn.',
    working: (percent: number) => `Listening, ${percent} percent`,
    progress: 'Speech engine',
    askFailed: 'The speech engine could not be asked. Please try again.',
  },
  burn: {
    title: 'Smart captions: in the picture',
    needs: 'Creator Pro',
    note: 'A file of its own with the words drawn into the picture, clear of the buttons of TikTok, Reels and Shorts. The clip stays as it is; captions without words are not drawn.',
    style: 'Look of the captions',
    styles: { box: 'Box', outline: 'Outline', words: 'Word by word' },
    make: 'Make the file',
    noWords: 'Write the words first: captions are never invented.',
    unsaved: 'The words are saved first.',
    askFailed: 'The file could not be asked for. Please try again.',
    waiting: 'The file waits for its turn.',
    working: (percent: number) => `Drawing the captions, ${percent} percent`,
    progress: 'Captions in the picture',
    cancel: 'Cancel',
    cancelLabel: 'Cancel the file with captions',
    cancelled: 'File cancelled',
    cancelledDetail: 'Your clip and its captions are as they were.',
    cancelFailed: 'The file could not be cancelled',
    olderClip: 'of an earlier version',
    olderWords: 'of earlier words',
    downloadLabel: 'Download the clip with captions in the picture',
    remove: 'Delete the file with captions in the picture',
    confirmRemove:
      'Delete the file with captions in the picture? Clip and words stay; the file can be made again.',
    removed: 'File deleted',
    removeFailed: 'The file could not be deleted',
    tryAgain: 'Please try again.',
    compare: 'Compare plans',
    subscribe: 'Get Creator Pro',
  },
  keepMine: 'Keep mine',
  takeTheirs: 'Take the others',
} as const;
