/** Texts of draft backups (Cloud Backup). */
export const draftTexts = {
  added: 'Added to Drafts',
  addedDetail: (fileName: string) => `${fileName} is backed up as it was uploaded.`,
  addFailed: 'Failed to Add to Drafts',
  restored: 'Draft restored',
  restoredDetail: (fileName: string) => `${fileName} is the current version again.`,
  restoreFailed: 'Restore failed',
  tryAgain: 'Please try again.',
} as const;
