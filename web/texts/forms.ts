/** Texts of controls that all forms, and all work in progress, share. */
export const formTexts = {
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  cancel: 'Cancel',
} as const;
