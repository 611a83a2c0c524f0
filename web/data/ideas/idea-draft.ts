import { atom, useAtom, useSetAtom } from 'jotai';
import { useSession } from '../account/session.ts';

interface IdeaDraft {
  readonly userId: string;
  readonly name: string;
  readonly text: string;
}

const NOTHING: IdeaDraft = { userId: '', name: '', text: '' };
const draftAtom = atom<IdeaDraft>(NOTHING);

/**
 * What is being typed on the board. It outlasts the page, so that an ended session or a look elsewhere loses no word
 * (D-21), and is shown to the person who typed it alone.
 */
export function useIdeaDraft() {
  const userId = useSession().user?.id ?? '';
  const [kept, keep] = useAtom(draftAtom);
  // Typed before it was known who is here: theirs.
  const draft = kept.userId === userId || kept.userId === '' ? kept : NOTHING;
  return {
    draft,
    change: (part: Partial<Pick<IdeaDraft, 'name' | 'text'>>) => keep({ ...draft, ...part, userId }),
  };
}

/** Forgets what was typed; for signing out. */
export function useForgetIdeaDraft(): () => void {
  const keep = useSetAtom(draftAtom);
  return () => keep(NOTHING);
}
