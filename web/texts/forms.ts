/** Texts of form controls that every form shares. */
export const formTexts = {
  showPassword: 'Show password',
  hidePassword: 'Hide password',
} as const;
