/** Texts of the editor. */
export const editorTexts = {
  title: 'Editor',
  back: 'Back to My Videos',
  lead: 'Choose a mended clip, see where it was mended, and go on from there.',
  more: 'Show more videos',
  loadingMore: 'Loading more videos...',
  choose: 'Completed videos',
  loading: 'Loading your videos...',
  failed: 'Your videos could not be loaded.',
  retry: 'Retry',
  notFound: 'That video is not in your library. Choose one below.',
  notReady: (name: string) => `${name} is not ready yet. It can be edited when processing is complete.`,
  cannotBe: (name: string, reason: string) =>
    `${name} could not be processed, so there is nothing to edit. ${reason}`,
  emptyTitle: 'Nothing to edit yet',
  emptyText: 'Videos appear here when their repair is complete.',
  emptyAction: 'Upload a video',
  pick: 'Choose a video to begin.',
  report: 'Repair report',
  /** Names of the sections of the page, used as links to them. */
  places: {
    label: 'Go to',
    captions: 'Captions',
    tools: 'AI tools',
    files: 'Files',
  },
  versions: 'Files to download',
  original: 'Original, as uploaded',
  repaired: 'Mended',
  fixed: 'With quick fixes',
  mendedAgain: 'Mended again',
  captions: 'Captions (WebVTT)',
  cues: (cues: number, worded: number) => {
    const count = cues === 1 ? '1 timed caption' : `${cues} timed captions`;
    return worded === 0 ? `${count}, words to be filled in` : count;
  },
  current: 'current',
  download: 'Download',
} as const;
