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
 * The text being typed on the board. It survives leaving the page, so that an ended session or a look elsewhere loses
 * no word, and only the user who typed it sees it.
 */
export function useIdeaDraft() {
  const userId = useSession().user?.id ?? '';
  const [kept, keep] = useAtom(draftAtom);
  // Text typed before the user was known belongs to them.
  const draft = kept.userId === userId || kept.userId === '' ? kept : NOTHING;
  return {
    draft,
    change: (part: Partial<Pick<IdeaDraft, 'name' | 'text'>>) => keep({ ...draft, ...part, userId }),
  };
}

/** Deletes what was typed; for signing out. */
export function useForgetIdeaDraft(): () => void {
  const keep = useSetAtom(draftAtom);
  return () => keep(NOTHING);
}
