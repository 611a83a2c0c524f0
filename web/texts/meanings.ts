import type { Defect } from '#common/report.ts';

/**
 * From how far on people notice that sound and picture are apart, ms: ITU-R BT.1359-1 found 45 for sound that comes early and 125 for
 * sound that comes late.
 */
const NOTICED_EARLY_MS = 45;
const NOTICED_LATE_MS = 125;

const digits = (value: number) =>
  (Math.abs(value) >= 10 ? value.toFixed(0) : value.toFixed(1)).replace(/\.0$/, '');
const percent = (share: number) => `${digits(share * 100)} %`;
const times = (ratio: number) => `${digits(ratio)} times`;
const seconds = (ms: number) => `${(Math.max(0, ms) / 1000).toFixed(ms < 1000 ? 2 : 1)} s`;
const pictures = (n: number) => (n === 1 ? '1 picture' : `${n} pictures`);

/** Less than this at the start of a sound with holes is jitter, ms: nothing was moved, and what lacks is sound. */
const MOVED_MS = 20;

function sync({ action, curve, measure: { before, after } }: Defect): string {
  if (before === null) return 'Sound and picture are apart.';
  const apart = (ms: number) => `${digits(Math.abs(ms))} ms`;
  if (action === 'filled_audio' && Math.abs(curve?.points[0]?.before ?? 0) < MOVED_MS)
    return `The sound breaks off: ${apart(before)} of it are missing or cannot be read, which is heard as a gap or a click.`;
  const noticed = before < 0 ? -before >= NOTICED_EARLY_MS : before >= NOTICED_LATE_MS;
  const comes = action === 'resampled_audio' ? 'The sound drifts and comes up to' : 'The sound comes';
  const found = `${comes} ${apart(before)} ${before < 0 ? 'before' : 'after'} the picture${
    noticed ? ': lips and claps are seen to be off' : ', which few people notice'
  }.`;
  if (after === null) return found;
  const fits = after > -NOTICED_EARLY_MS && after < NOTICED_LATE_MS;
  return `${found} ${fits ? `Now they are ${apart(after)} apart, which nobody notices.` : `Now they are ${apart(after)} apart.`}`;
}

function wind({ before, after }: Defect['measure']): string {
  const found = 'Wind rumbles in the sound and covers what else is heard.';
  if (before === null || after === null || after >= before) return found;
  // Ten decibels less are heard as half as loud (Stevens; ISO 532).
  return `${found} What is left of it is heard about ${percent(2 ** ((after - before) / 10))} as loud as before.`;
}

function missing({ measure, count }: Defect): string {
  const { name, before } = measure;
  const lost =
    count > 0 ? `${pictures(count)} ${count === 1 ? 'is' : 'are'} missing` : 'pictures are missing';
  if (before !== null && name === 'interval against its neighbours')
    return `One picture stays on screen ${times(before)} as long as those around it: ${lost}, and the motion jerks.`;
  if (before !== null && name === 'step against the steps around it')
    return `The motion makes a step ${times(before)} as large as around it: ${lost}, though the times have no hole.`;
  return `${lost.charAt(0).toUpperCase()}${lost.slice(1)} here, and the motion jerks.`;
}

function damaged({ measure, count }: Defect): string {
  if (measure.unit === 'indexes')
    return 'The table that tells players where each picture lies cannot be read: many of them play nothing.';
  const left =
    measure.after === null
      ? ''
      : measure.after === 0
        ? ' Now every picture can be read.'
        : ` Of these, ${digits(measure.after)} still cannot.`;
  const some = measure.before ?? count;
  return `The data of ${pictures(some)} cannot be read: blocks, smears or a frozen picture show instead.${left}`;
}

/** What a defect and its figure mean for who watches the clip, in words of every day; the exact figures stand beside it. */
export function meaningOf(defect: Defect): string {
  const { kind, measure, startMs, endMs, count } = defect;
  const { before, threshold } = measure;
  switch (kind) {
    case 'stuttered_cut':
      return `The picture stands still for ${seconds(endMs - startMs)} while the clip moves${
        count > 0 ? `: ${pictures(count)} ${count === 1 ? 'repeats' : 'repeat'} the one before` : ''
      }.`;
    case 'dropped_frames':
      return missing(defect);
    case 'corrupted_section':
      return damaged(defect);
    case 'audio_sync':
      return sync(defect);
    case 'wind_noise':
      return wind(measure);
    case 'shaky_footage':
      return before === null
        ? 'The camera shakes.'
        : `From picture to picture the camera jerks by ${percent(before)} of the width${
            threshold === null ? '' : `; from ${percent(threshold)} on it is seen as shake`
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
