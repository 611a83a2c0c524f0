import { POINTS } from '#common/reputation.ts';
import { MESSAGES } from '#common/messages.ts';

/** Texts of the community board (Nice2Have). */
export const ideaTexts = {
  submitted: 'Idea submitted!',
  submittedDetail: "Thanks for your suggestion! We'll review it and consider it for future updates.",
  submitFailed: 'Failed to submit idea',
  voted: 'Vote recorded!',
  votedDetail: 'Thanks for supporting this idea!',
  voteFailed: 'Vote failed',
  unvoted: 'Vote taken back',
  tryAgain: 'Please try again.',

  title: 'Nice2Have',
  lead: 'What should Reelmend learn next? Say it, or back what others said.',
  back: 'Back to Dashboard',

  form: {
    title: 'Submit Your Idea',
    name: 'Your Name (Optional)',
    namePlaceholder: 'Anonymous',
    idea: 'Your Idea',
    ideaPlaceholder: 'I would like to...',
    submit: 'Submit Idea',
    submitting: 'Submitting...',
    note: 'All suggestions are reviewed by our team.',
    similar: 'Something like this is already on the board:',
    blankTitle: 'Please enter an idea',
    blankText: MESSAGES.ideaMissing,
    anonymous: 'Anonymous',
    left: (n: number) => `${n} characters left`,
  },

  list: {
    title: 'Community Ideas',
    count: (n: number) => (n === 1 ? '1 idea submitted' : `${n} ideas submitted`),
    loading: 'Loading ideas...',
    unfold: 'Show the whole idea',
    fold: 'Show less',
    empty: 'No ideas submitted yet',
    emptyHint: 'Be the first to share your suggestion!',
    noMatch: 'No idea matches this filter.',
    refreshFailed: 'Could not refresh',
    retry: 'Retry',
    sort: 'Sort by',
    sorts: { wanted: 'Most wanted', newest: 'Newest', mine: 'My ideas' },
    status: 'Status',
    allStatuses: 'All',
    vote: (n: number) => `Vote, ${n} ${n === 1 ? 'vote' : 'votes'}`,
    voted: (n: number) => `Voted, ${n} ${n === 1 ? 'vote' : 'votes'}. Take the vote back`,
    voteShort: 'Vote',
    votedShort: 'Voted',
    more: 'Show more ideas',
    loadingMore: 'Loading more ideas...',
  },

  leaders: {
    title: 'Reputation Leaders',
    empty: 'No contributors yet',
    points: (n: number) => `${n} points`,
    hintTitle: 'How to earn reputation',
    hints: [
      `Submit an idea: +${POINTS.idea} points`,
      `Each vote your idea receives: +${POINTS.voteReceived} points`,
      `Popular ideas earn bonus points: +${POINTS.popularBonus} at ${POINTS.popularVotes} votes`,
    ],
  },
} as const;
