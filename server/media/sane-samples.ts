/** Samples beyond this many times full scale are no sound: 24 dB is more than any recorder's headroom. */
const MOST_FULL_SCALES = 16;

/**
 * Filter that silences impossible samples; null where nothing is to be done. Damaged floating-point sound holds values that are not
 * numbers or fill the range of the format, at which encoders give up; other codecs cannot say such values.
 * @param codec as ffmpeg names it
 */
export function saneFilter(codec: string): string | null {
  return codec.startsWith('pcm_f') ? SANE : null;
}

// A value that is not a number lies between no two numbers.
const SANE = `aeval=if(between(val(ch)\\,-${MOST_FULL_SCALES}\\,${MOST_FULL_SCALES})\\,val(ch)\\,0):c=same`;
