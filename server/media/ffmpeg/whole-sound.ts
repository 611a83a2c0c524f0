import { uploadedInputOptions, type AudioStreamInfo, type MediaInfo } from '../probe/probe.ts';

type SoundOfClip = Pick<MediaInfo, 'format' | 'audio'>;

/**
 * The first sound track if ffmpeg would leave out its beginning, else null. Of HE-AAC it takes the samples that an edit
 * list hides for such of half the rate, and leaves out twice as many (`skip_samples_multiplier` in libavcodec, 5.1 and
 * later). Of 233 public short-form clips, all 67 with hidden HE-AAC lost 105 to 161 ms that players play.
 */
function shortened({ format, audio: [first] }: SoundOfClip): AudioStreamInfo | null {
  const isHe = first?.codec === 'aac' && (first.profile ?? '').startsWith('HE-AAC');
  return format === 'mov' && isHe ? first : null;
}

/**
 * Input options that make ffmpeg decode all of the first sound track, also what an edit list hides. Always used
 * together with `wholeSoundFilters`, which leave that out again.
 */
export function wholeSoundOptions(info: SoundOfClip): readonly string[] {
  const stream = shortened(info);
  return stream ? [`-flags2:${stream.index}`, '+skip_manual'] : [];
}

/** Options for an input of which only the sound is decoded: `uploadedInputOptions`, and all of its first track. */
export const uploadedSoundOptions = (info: SoundOfClip): string[] => [
  ...uploadedInputOptions(info.format),
  ...wholeSoundOptions(info),
];

/** Filters in front of all others: nothing before time 0, as the edit list says. */
export const wholeSoundFilters = (info: SoundOfClip): readonly string[] =>
  shortened(info) ? ['atrim=start=0'] : [];

/**
 * The same for samples that go on without their times: with silence where the sound begins late or has a hole, so that
 * the place of a sample still tells its time.
 */
export const placedSoundFilters = (info: SoundOfClip): readonly string[] => [
  ...wholeSoundFilters(info),
  'aresample=async=1:first_pts=0',
];
