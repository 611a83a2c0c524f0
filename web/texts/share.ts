/** Texts of the public page of a shared video. */
export const shareTexts = {
  loading: 'Loading...',
  by: 'Mended with Reelmend',
  invite: 'Broken clips, visibly mended.',
  action: 'Mend a clip of yours',
  failed: 'The video could not be loaded.',
  retry: 'Retry',
  captions: 'Captions',
} as const;
