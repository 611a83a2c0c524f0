/** Largest multiple of full scale that counts as sound: 24 dB is more than any recorder's headroom. */
const MOST_FULL_SCALES = 16;

/**
 * Filter that silences impossible samples; null where none is needed. Damaged floating-point sound holds values that
 * are not numbers or fill the range of the format, at which encoders fail; other codecs have no such values.
 * @param codec as ffmpeg names it
 */
export function saneFilter(codec: string): string | null {
  return codec.startsWith('pcm_f') ? SANE : null;
}

// A value that is not a number (NaN) is between no two numbers.
const SANE = `aeval=if(between(val(ch)\\,-${MOST_FULL_SCALES}\\,${MOST_FULL_SCALES})\\,val(ch)\\,0):c=same`;
