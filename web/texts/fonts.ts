/** Texts of the font preview. */
export const fontTexts = {
  title: 'Font pairings',
  lead: 'Five pairings of open fonts, served from this site. The first is the one Reelmend wears.',
  current: 'In use',
  heading: 'Mended at 0:12.480',
  body: 'Five frames were missing and have been rebuilt from their neighbours. Everything else is the clip as you uploaded it, byte for byte.',
  code: 'offset −40 ms → 0 ms   5f3a…c91e',
  display: 'Display',
  text: 'Text',
} as const;
