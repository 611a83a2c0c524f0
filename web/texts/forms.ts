/** Texts of controls that every form, and everything that is being made, shares. */
export const formTexts = {
  showPassword: 'Show password',
  hidePassword: 'Hide password',
  cancel: 'Cancel',
} as const;
