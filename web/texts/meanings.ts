import { BY_HAND, MARKED_PLACE } from '#common/noticed.ts';
import { type Defect, ODDS_OF_A_LOSS } from '#common/report.ts';

/**
 * Offset from which people notice that sound and picture are apart, ms: ITU-R BT.1359-1 found 45 for early sound and
 * 125 for late sound.
 */
const NOTICED_EARLY_MS = 45;
const NOTICED_LATE_MS = 125;

const digits = (value: number) =>
  (Math.abs(value) >= 10 ? value.toFixed(0) : value.toFixed(1)).replace(/\.0$/, '');
const percent = (share: number) => `${digits(share * 100)} %`;
const times = (ratio: number) => `${digits(ratio)} times`;
const seconds = (ms: number) => `${(Math.max(0, ms) / 1000).toFixed(ms < 1000 ? 2 : 1)} s`;
const frames = (n: number) => (n === 1 ? '1 frame' : `${n} frames`);

/** A smaller offset at the start of a sound with holes is jitter, ms: nothing was moved, and sound is missing. */
const MOVED_MS = 20;

/** What somebody heard who moved the sound. */
function heard({ after }: Defect['measure']): string {
  if (after === null) return 'Somebody heard that the sound was off.';
  return `Somebody heard the sound come ${digits(Math.abs(after))} ms too ${after < 0 ? 'late' : 'early'}.`;
}

/** The motion at a place that somebody marked, of that around it. */
function marked({ before, after }: Defect['measure']): string {
  if (before === null) return 'Somebody saw that the motion is uneven here.';
  const now = after === null ? '' : ` Now it is ${percent(after)}.`;
  return before < 1
    ? `The picture moves by ${percent(before)} of what moves around it.${now}`
    : `The longest step is ${percent(before)} of those around it.${now}`;
}

function sync({ action, curve, detector, measure }: Defect): string {
  if (detector === BY_HAND) return heard(measure);
  const { before, after } = measure;
  if (before === null) return 'Sound and picture are out of sync.';
  const apart = (ms: number) => `${digits(Math.abs(ms))} ms`;
  if (action === 'filled_audio' && Math.abs(curve?.points[0]?.before ?? 0) < MOVED_MS)
    return `The sound breaks off: ${apart(before)} of it is missing or cannot be read, which you hear as a gap or a click.`;
  const noticed = before < 0 ? -before >= NOTICED_EARLY_MS : before >= NOTICED_LATE_MS;
  const comes = action === 'resampled_audio' ? 'The sound drifts and comes up to' : 'The sound comes';
  const found = `${comes} ${apart(before)} ${before < 0 ? 'before' : 'after'} the picture${
    noticed ? ': lips and claps look out of sync' : ', which few people notice'
  }.`;
  if (after === null) return found;
  const fits = after > -NOTICED_EARLY_MS && after < NOTICED_LATE_MS;
  return `${found} ${fits ? `Now it is ${apart(after)} off, which nobody notices.` : `Now it is ${apart(after)} off.`}`;
}

function wind({ before, after }: Defect['measure']): string {
  const found = 'Wind rumbles over the sound.';
  if (before === null || after === null || after >= before) return found;
  // Ten decibels less sound half as loud (Stevens; ISO 532).
  return `${found} What is left of it sounds about ${percent(2 ** ((after - before) / 10))} as loud.`;
}

function missing({ measure, count }: Defect): string {
  const { name, before } = measure;
  const lost = count > 0 ? `${frames(count)} ${count === 1 ? 'is' : 'are'} missing` : 'frames are missing';
  if (before !== null && name === 'interval against its neighbours')
    return `One frame stays on screen ${times(before)} as long as its neighbours: ${lost}, and the motion jerks.`;
  if (before !== null && name === 'step against the steps around it')
    return `The motion jumps ${times(before)} as far as around it: ${lost}.`;
  if (before !== null && name === ODDS_OF_A_LOSS)
    return `All that moves goes farther here than one frame explains: ${lost}, by odds of ${digits(before)} to 1.`;
  return `${lost.charAt(0).toUpperCase()}${lost.slice(1)} here, and the motion jerks.`;
}

function damaged({ measure, count }: Defect): string {
  if (measure.unit === 'indexes')
    return 'The index, which tells players where each frame is, cannot be read: many players show nothing.';
  const left =
    measure.after === null
      ? ''
      : measure.after === 0
        ? ' Now every frame can be read.'
        : ` ${digits(measure.after)} of them still cannot be read.`;
  const some = measure.before ?? count;
  return `${frames(some)} cannot be read: blocks, smears or a frozen picture show instead.${left}`;
}

/**
 * What a defect and its figure mean for viewers of the clip, in everyday words; the exact figures are shown beside it.
 */
export function meaningOf(defect: Defect): string {
  const { kind, measure, startMs, endMs, count } = defect;
  const { before, threshold } = measure;
  switch (kind) {
    case 'stuttered_cut':
      return `The picture freezes for ${seconds(endMs - startMs)} while the clip moves on${
        count > 0 ? `: ${frames(count)} ${count === 1 ? 'repeats' : 'repeat'} the one before` : ''
      }.`;
    case 'dropped_frames':
      return defect.detector === MARKED_PLACE ? marked(measure) : missing(defect);
    case 'corrupted_section':
      return damaged(defect);
    case 'audio_sync':
      return sync(defect);
    case 'wind_noise':
      return wind(measure);
    case 'shaky_footage':
      return before === null
        ? 'The camera shakes.'
        : `From frame to frame the camera jerks by ${percent(before)} of the width${
            threshold === null ? '' : `; from ${percent(threshold)} on it looks shaky`
          }.`;
    case 'poor_lighting':
      return before === null
        ? 'The picture is dark.'
        : `Nine tenths of the picture are darker than ${percent(before / 255)} of full brightness: details drown in the dark.`;
    case 'blurry_section':
      return before === null
        ? 'The picture is soft.'
        : threshold !== null && before < threshold
          ? `Fine details are ${percent(before)} as clear as in the sharpest second of this clip: the picture is soft.`
          : 'Even the sharpest edges are soft: the picture is out of focus.';
  }
}
