/** Texts of the public page of a shared video. */
export const shareTexts = {
  loading: 'Loading...',
  by: 'Mended with Reelmend',
  invite: 'Broken clips, visibly mended.',
  action: 'Mend a clip of yours',
  gone: 'This video is not shared, or not any more. Ask whoever gave you the link.',
  failed: 'The video could not be loaded.',
  retry: 'Retry',
  captions: 'Captions',
} as const;
