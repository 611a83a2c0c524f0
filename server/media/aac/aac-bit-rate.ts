/** Bit rate of AAC for each channel of a sound that has to be coded anew: transparent for speech and music. */
export const AAC_BITS_PER_CHANNEL = 96_000;
