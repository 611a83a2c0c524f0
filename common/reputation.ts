/** Reputation levels of the board (specification section 3); colours and icons are ours. */
export const LEVELS = [
  { name: 'Newcomer', minPoints: 0, icon: 'sprout', colour: 'slate' },
  { name: 'Contributor', minPoints: 50, icon: 'needle', colour: 'teal' },
  { name: 'Innovator', minPoints: 150, icon: 'spark', colour: 'blue' },
  { name: 'Expert', minPoints: 300, icon: 'star', colour: 'violet' },
  { name: 'Guru', minPoints: 500, icon: 'crown', colour: 'amber' },
  { name: 'Legend', minPoints: 1000, icon: 'laurel', colour: 'rose' },
] as const;
export type Level = (typeof LEVELS)[number];

/** The highest level whose minimum is reached. */
export function levelFor(points: number): Level {
  return LEVELS.findLast((level) => points >= level.minPoints) ?? LEVELS[0];
}

export const POINTS = {
  idea: 10,
  voteReceived: 5,
  /** Given once, when an idea reaches `popularVotes` votes. */
  popularBonus: 25,
  popularVotes: 10,
} as const;
