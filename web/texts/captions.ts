import type { CaptionLineProblem } from '#common/caption-text.ts';
import type { CueProblemKind, VideoCue } from '#common/captions.ts';
import type { ImportNotes } from '#common/parse-captions.ts';
import type { ReadingHint } from '#web/data/captions/caption-edits.ts';
import { MESSAGES } from '#common/messages.ts';

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
  bad_characters: 'It has invisible control characters. Type the words again.',
  too_late: 'It ends later than a clip can.',
};
const LINE_PROBLEMS: Readonly<Record<CaptionLineProblem, string>> = {
  ...PROBLEMS,
  too_long: 'its words are longer than 500 characters.',
  ends_early: 'the caption must end after it begins.',
  overlaps: 'the caption begins before the one above ends.',
  bad_characters: 'its words have invisible control characters.',
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
  speech_model: 'Transcribed',
};

/** Texts of the caption editor. */
export const captionTexts = {
  title: 'Captions',
  note: 'Captions are timed to the speech; the words are yours. They stay with the video, whichever version is current.',
  noteOriginal:
    'The original is current, so the times follow its sound, which the repair had moved. The words stay with the video, whichever version is current.',
  loading: 'Loading the captions...',
  fetchFailed: 'The captions could not be loaded.',
  retry: 'Retry',
  noSound:
    'This clip has no sound, so there is nothing to time. You can add captions by hand or import a file.',
  noSpeech: 'No speech was found in this clip. You can add captions by hand or import a file.',
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
    hint: 'Each caption is a line of times, then its words, then a blank line, as in SubRip (.srt) and WebVTT (.vtt) files. Nothing changes until you press Use this text; Undo brings the captions back.',
    label: 'All captions as text',
    errors: 'What must be corrected',
    error: (line: number, why: string) => `Line ${line}: ${why}`,
    problems: LINE_PROBLEMS,
    state: (n: number, errors: number) =>
      errors === 0
        ? `${cues(n)}, all in order.`
        : errors === 1
          ? '1 line must be corrected first.'
          : `${errors} lines must be corrected first.`,
    changed:
      'These captions were changed in another window meanwhile. Press Use this text again to replace them.',
    take: 'Use this text',
    discard: 'Discard the text',
    taken: (n: number) => `Your text is in use: ${cues(n)}.`,
    discarded: 'The text was discarded; the captions are as they were.',
  },
  did: {
    split: 'Caption split.',
    merge: 'Captions merged.',
    remove: 'Caption deleted.',
    add: 'Caption added.',
    noRoom: 'There is no room for a caption here.',
    full: 'A video has at most 2000 captions.',
    shift: 'All captions shifted.',
    merged: 'Changes from your other window were added.',
    undo: 'Undone.',
    redo: 'Redone.',
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
  importHint: 'SubRip (.srt) or WebVTT (.vtt). It replaces all captions; Undo brings them back.',
  importBad: 'No caption was found in this file. It must be SubRip (.srt) or WebVTT (.vtt).',
  importLarge: 'This file is too large for captions.',
  importMany: 'This file has more than 2000 captions, which is more than a video can have.',
  imported: (n: number, notes: ImportNotes) =>
    [
      `${cues(n)} imported.`,
      ...(notes.styled > 0 ? [`Styles and positions of ${cues(notes.styled)} were left out.`] : []),
      ...(notes.retimed > 0
        ? [`The end of ${cues(notes.retimed)} was moved so that none runs into the next.`]
        : []),
      ...(notes.joined > 0 ? [`${cues(notes.joined)} began at the same time as another and joined it.`] : []),
      ...(notes.divided > 0
        ? [`${cues(notes.divided)} ${notes.divided === 1 ? 'was' : 'were'} too long and divided.`]
        : []),
    ].join(' '),
  script: 'Paste your script',
  scriptLabel: 'Your script',
  scriptHint:
    'Your words are spread over the speech by how long they take to say, with sentences ending at pauses. The times are an estimate, so check them. The script replaces all captions; Undo brings them back.',
  scriptLay: 'Time the script',
  scriptNone: 'The script is empty, or far too long for the speech in this clip.',
  scriptDone: (n: number) => `The script was timed to the speech: ${cues(n)}.`,
  shift: 'Shift all times',
  shiftLabel: 'Seconds to shift all captions, negative for earlier',
  shiftBad: 'Write seconds, for example 0.5 or -1.25.',
  shiftDo: 'Shift',
  again: 'Start over from the speech',
  againDone: 'The captions follow the speech again, without words. Undo brings the words back.',
  download: 'Download',
  downloadAs: { vtt: 'WebVTT (.vtt)', srt: 'SubRip (.srt)' },
  saved: (at: string) => `Saved ${at}`,
  unchanged: 'Nothing to save.',
  saving: 'Saving...',
  held: (n: number) => `Not saved: caption ${n} has a problem. Correct it and it is saved.`,
  offline: 'Not saved: Reelmend cannot be reached. Trying again; keep this page open.',
  refused: (why: string | null) =>
    `Not saved: ${why ?? 'Reelmend refused it. Reload the page and try again.'}`,
  conflict: 'Not saved: these captions were changed in another window meanwhile.',
  hear: {
    none: 'Type the words, import a file or paste your script: this server has no speech recognition.',
    ask: 'Transcribe the speech',
    again: 'Transcribe again',
    use: 'Use the transcript',
    used: 'The captions are the transcript now; check the marked ones. Undo brings the others back.',
    waiting: 'The transcription waits for its turn.',
    working: (percent: number) => `Transcribing, ${percent} percent`,
    progress: 'Transcription',
    askFailed: 'The transcription could not be started. Please try again.',
    cancelLabel: 'Cancel the transcription',
    cancelled: 'Transcription cancelled',
    cancelledDetail: MESSAGES.captionsKept,
    cancelFailed: 'The transcription could not be cancelled',
    tryAgain: 'Please try again.',
  },
  burn: {
    title: 'Smart captions: in the picture',
    needs: 'Creator Pro',
    note: 'A separate file with the captions drawn into the picture, clear of the buttons of TikTok, Reels and Shorts. Your clip stays as it is; captions without words are left out.',
    style: 'Look of the captions',
    styles: { box: 'Box', outline: 'Outline', words: 'Word by word' },
    make: 'Make the file',
    noWords: 'Add words first: Reelmend never invents captions.',
    unsaved: 'Saving the words first...',
    askFailed: 'The file could not be started. Please try again.',
    waiting: 'The file waits for its turn.',
    working: (percent: number) => `Drawing the captions, ${percent} percent`,
    progress: 'Captions in the picture',
    cancelLabel: 'Cancel the file with captions',
    cancelled: 'File cancelled',
    cancelledDetail: MESSAGES.clipAndCaptionsKept,
    cancelFailed: 'The file could not be cancelled',
    olderClip: 'from an earlier version',
    olderWords: 'from earlier words',
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
  takeTheirs: 'Use the others',
} as const;
