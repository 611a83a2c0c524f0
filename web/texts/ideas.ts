/** Texts of the community board (Nice2Have). */
export const ideaTexts = {
  submitted: 'Idea submitted!',
  submittedDetail: "Thanks for your suggestion! We'll review it and consider it for future updates.",
  submitFailed: 'Failed to submit idea',
  voted: 'Vote recorded!',
  votedDetail: 'Thanks for supporting this idea!',
  voteFailed: 'Vote failed',
  tryAgain: 'Please try again.',
} as const;
