import { formatMark } from '#common/format.ts';
import type { StorylineDto } from '#common/api/storyline.ts';
import { mean } from '#server/media/statistics.ts';
import type { SpeechSpan } from '#server/pipeline/analyse/analysis.ts';
import { STEP_MS, type ClipSeries, type PictureFigures } from './clip-series.ts';
import { findScenes, type SceneSpan } from './find-scenes.ts';

/** A picture with less contrast shows nothing: black, white, one colour. */
const LEAST_CONTRAST = 6;
/** Sound below this is inaudible, dBFS. */
const LEAST_LEVEL_DB = -60;
/** With a smaller share of usable pictures nothing is said about scenes. */
const LEAST_PICTURE_SHARE = 0.05;
const DARK_LUMA = 60;
const BRIGHT_LUMA = 150;
const PALE_SATURATION = 0.08;
const COLOURFUL_SATURATION = 0.4;
/** Mean change of brightness from sample to sample, 0 to 255. */
const CALM_CHANGE = 2.5;
const LIVELY_CHANGE = 9;
/** Share of speech from which a stretch counts as spoken. */
const SPOKEN_SHARE = 0.25;
const MOSTLY_SPOKEN_SHARE = 0.5;
const FAST_CUTS_PER_MINUTE = 12;
const QUIET_DB = -45;
/** Shorter pauses do not end an appearance of a voice. */
const SPEECH_PAUSE_MS = 1500;
const MOST_APPEARANCES = 40;
const MOST_SCENES = 200;

interface Facts {
  readonly scenes: readonly SceneSpan[];
  /** The pictures that show something. */
  readonly pictures: readonly PictureFigures[];
  readonly pictureShare: number;
  readonly soundShare: number;
  readonly speechShare: number;
  readonly cutsPerMinute: number;
}

/**
 * Describes in words what picture and sound show: scenes between cuts, light, colour, movement, speech. Nobody and
 * nothing is recognised, so emotions and objects stay empty, and a voice is only "Speaker 1". Pure: the same
 * series gives the same story. The confidence is the share of picture and sound that can be read.
 */
export function tellStory(series: ClipSeries): StorylineDto {
  const facts = gather(series);
  const genre = genreOf(facts);
  const mood = moodOf(facts);
  return {
    title: titleOf(series, facts, genre),
    summary: summarise(series, facts),
    confidence: Math.round((100 * (facts.pictureShare + facts.soundShare)) / 2),
    genre,
    mood,
    themes: themesOf(series, facts),
    characters: charactersOf(series),
    scenes: facts.scenes.slice(0, MOST_SCENES).map((scene) => describeScene(scene, series)),
  };
}

function gather({ pictures, levelsDb, speech, durationMs }: ClipSeries): Facts {
  const share = <Item>(items: readonly Item[], test: (item: Item) => boolean) =>
    items.length === 0 ? 0 : items.filter(test).length / items.length;
  const pictureShare = share(pictures, isReadable);
  const scenes = pictureShare >= LEAST_PICTURE_SHARE ? findScenes(pictures, durationMs) : [];
  const minutes = durationMs / 60_000;
  return {
    scenes,
    pictures: pictures.filter(isReadable),
    pictureShare,
    soundShare: share(levelsDb, (level) => level >= LEAST_LEVEL_DB),
    speechShare: spokenMs(speech, 0, durationMs) / Math.max(1, durationMs),
    cutsPerMinute: minutes > 0 ? Math.max(0, scenes.length - 1) / minutes : 0,
  };
}

function isReadable({ contrast }: PictureFigures): boolean {
  return contrast >= LEAST_CONTRAST;
}

function genreOf({ scenes, speechShare, soundShare, cutsPerMinute }: Facts): string {
  if (scenes.length === 0) return soundShare > 0 && speechShare >= SPOKEN_SHARE ? 'Speech' : 'Unknown';
  if (speechShare >= MOSTLY_SPOKEN_SHARE) return 'Talk';
  if (cutsPerMinute >= FAST_CUTS_PER_MINUTE) return 'Montage';
  if (speechShare >= SPOKEN_SHARE) return 'Scenes with speech';
  return scenes.length === 1 ? 'Single take' : 'Scenes';
}

function moodOf({ scenes, pictures, cutsPerMinute }: Facts): string {
  if (scenes.length === 0) return 'Unknown';
  const change = mean(pictures.map((picture) => picture.change));
  const lively = change >= LIVELY_CHANGE || cutsPerMinute >= FAST_CUTS_PER_MINUTE;
  const pace = lively ? 'lively' : change < CALM_CHANGE ? 'calm' : 'steady';
  const light = lightOf(pictures);
  return light === '' ? `${pace[0]?.toUpperCase()}${pace.slice(1)}` : `${light} and ${pace}`;
}

function lightOf(pictures: readonly PictureFigures[]): '' | 'Dark' | 'Bright' {
  const luma = mean(pictures.map((picture) => picture.luma));
  if (pictures.length === 0) return '';
  return luma < DARK_LUMA ? 'Dark' : luma >= BRIGHT_LUMA ? 'Bright' : '';
}

function themesOf(
  { levelsDb }: ClipSeries,
  { scenes, pictures, speechShare, cutsPerMinute }: Facts,
): string[] {
  const saturation = mean(pictures.map((picture) => picture.saturation));
  const change = mean(pictures.map((picture) => picture.change));
  const seen = scenes.length > 0;
  const light = lightOf(pictures);
  const themes: readonly (readonly [string, boolean])[] = [
    ['Speech', speechShare >= SPOKEN_SHARE],
    ['Fast cutting', seen && cutsPerMinute >= FAST_CUTS_PER_MINUTE],
    ['One take', scenes.length === 1],
    ['Movement', seen && change >= LIVELY_CHANGE],
    ['Stillness', seen && change < CALM_CHANGE && cutsPerMinute < FAST_CUTS_PER_MINUTE],
    ['Low light', seen && light === 'Dark'],
    ['Bright light', seen && light === 'Bright'],
    ['Strong colours', seen && saturation >= COLOURFUL_SATURATION],
    ['Little colour', seen && saturation < PALE_SATURATION],
    ['Quiet sound', levelsDb.length > 0 && mean(levelsDb) < QUIET_DB],
    ['No sound', levelsDb.length === 0],
  ];
  // Without a picture and without speech there is nothing to name.
  if (!seen && speechShare < SPOKEN_SHARE) return [];
  return themes.filter(([, holds]) => holds).map(([name]) => name);
}

/** Voices cannot be distinguished, so all speech is one entry, and the entry says so. */
function charactersOf({ speech }: ClipSeries): StorylineDto['characters'] {
  if (speech.length === 0) return [];
  const joined: { startMs: number; endMs: number }[] = [];
  for (const { startMs, endMs } of [...speech].sort((a, b) => a.startMs - b.startMs)) {
    const last = joined.at(-1);
    if (last && startMs - last.endMs <= SPEECH_PAUSE_MS) last.endMs = Math.max(last.endMs, endMs);
    else joined.push({ startMs, endMs });
  }
  const total = Math.max(
    1,
    Math.round(speech.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0) / 1000),
  );
  return [
    {
      name: 'Speaker 1',
      description: `Speech is heard for ${total} s in total, from one person or several: voices are not told apart.`,
      appearances: joined
        .slice(0, MOST_APPEARANCES)
        .map(({ startMs, endMs }) => `${formatMark(startMs)} – ${formatMark(endMs)}`),
    },
  ];
}

function describeScene({ startMs, endMs }: SceneSpan, series: ClipSeries): StorylineDto['scenes'][number] {
  const pictures = within(series.pictures, startMs, endMs);
  const spoken = spokenMs(series.speech, startMs, endMs) / Math.max(1, endMs - startMs) >= SPOKEN_SHARE;
  // The first sample of a scene differs from the previous scene, not from this one.
  const change = mean(pictures.slice(1).map((picture) => picture.change));
  return {
    timestamp: formatMark(startMs),
    duration: `${(Math.floor((endMs - startMs) / 100) / 10).toFixed(1)} s`,
    description: `${pictureWords(pictures, change)}; ${soundWords(series, startMs, endMs, spoken)}.`,
    emotions: [],
    keyObjects: [],
    actions: [...(spoken ? ['speaking'] : []), ...(change >= LIVELY_CHANGE ? ['moving'] : [])],
  };
}

function pictureWords(pictures: readonly PictureFigures[], change: number): string {
  const readable = pictures.filter(isReadable);
  if (readable.length === 0) return 'Nothing to see';
  const light = lightOf(readable);
  const saturation = mean(readable.map((picture) => picture.saturation));
  const colours =
    saturation >= COLOURFUL_SATURATION
      ? 'strong colours'
      : saturation < PALE_SATURATION
        ? 'little colour'
        : '';
  const head = light === '' ? 'Even light' : `${light} picture`;
  const pace =
    change >= LIVELY_CHANGE
      ? 'a lot of movement'
      : change < CALM_CHANGE
        ? 'little movement'
        : 'some movement';
  return [head, colours, pace].filter((word) => word !== '').join(', ');
}

function soundWords({ levelsDb }: ClipSeries, startMs: number, endMs: number, spoken: boolean): string {
  if (levelsDb.length === 0) return 'no sound';
  if (spoken) return 'speech';
  const levels = within(levelsDb, startMs, endMs);
  return levels.length === 0 || mean(levels) < QUIET_DB ? 'quiet' : 'sound without speech';
}

function titleOf({ durationMs }: ClipSeries, { scenes }: Facts, genre: string): string {
  const length = formatMark(durationMs);
  if (scenes.length === 0) return genre === 'Unknown' ? `A clip of ${length}` : `${genre}, ${length}`;
  if (scenes.length === 1)
    return genre === 'Single take' ? `Single take, ${length}` : `${genre} in one take, ${length}`;
  return `${genre === 'Scenes' ? 'A clip' : genre} in ${scenes.length} scenes, ${length}`.replace(
    'Scenes with speech in',
    'Speech in',
  );
}

function summarise(series: ClipSeries, { scenes, pictures, speechShare }: Facts): string {
  const { durationMs, levelsDb, speech, pictures: all } = series;
  const sentences: string[] = [];
  if (scenes.length === 0) sentences.push('There is nothing to see.');
  else if (scenes.length === 1) sentences.push(`One take of ${formatMark(durationMs)} without a cut.`);
  else {
    const longest = scenes.reduce((best, scene) =>
      scene.endMs - scene.startMs > best.endMs - best.startMs ? scene : best,
    );
    const where = `${formatMark(longest.startMs)} to ${formatMark(longest.endMs)}`;
    sentences.push(`${scenes.length} scenes in ${formatMark(durationMs)}; the longest runs from ${where}.`);
  }
  const first = speech[0];
  if (first) {
    const percent = Math.max(1, Math.round(100 * speechShare));
    sentences.push(`Somebody speaks for ${percent} % of the clip, first at ${formatMark(first.startMs)}.`);
  } else sentences.push(levelsDb.length === 0 ? 'There is no sound.' : 'No speech is heard.');
  if (scenes.length > 0 && mean(pictures.map(({ change }) => change)) >= CALM_CHANGE) {
    sentences.push(`The picture moves most at ${formatMark(busiestMs(scenes, all))}.`);
  }
  return sentences.join(' ');
}

/** Start of the second with the most movement, cuts excluded, ms. */
function busiestMs(scenes: readonly SceneSpan[], pictures: readonly PictureFigures[]): number {
  const window = Math.round(1000 / STEP_MS);
  const starts = new Set(scenes.map(({ startMs }) => Math.round(startMs / STEP_MS)));
  const moving = pictures.map(({ change }, i) => (starts.has(i) ? 0 : change));
  let best = 0;
  let bestSum = -1;
  for (let i = 0; i + window <= moving.length; i += 1) {
    const sum = moving.slice(i, i + window).reduce((total, value) => total + value, 0);
    if (sum > bestSum) [best, bestSum] = [i, sum];
  }
  return best * STEP_MS;
}

function spokenMs(speech: readonly SpeechSpan[], startMs: number, endMs: number): number {
  return speech.reduce(
    (sum, span) => sum + Math.max(0, Math.min(span.endMs, endMs) - Math.max(span.startMs, startMs)),
    0,
  );
}

function within<Item>(items: readonly Item[], startMs: number, endMs: number): Item[] {
  return items.slice(Math.round(startMs / STEP_MS), Math.max(1, Math.round(endMs / STEP_MS)));
}
