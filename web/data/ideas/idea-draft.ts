import { atom, useAtom, useSetAtom } from 'jotai';
import { z } from 'zod';
import { useSession } from '../account/session.ts';
import { type KeptWords, keptWordsAtom } from '../kept-words.ts';

const ideaDraft = z.object({ userId: z.string(), name: z.string(), text: z.string() }).readonly();
type IdeaDraft = z.infer<typeof ideaDraft>;

const NOTHING: IdeaDraft = { userId: '', name: '', text: '' };
const PLACE = 'idea';

/** What an earlier load of this page kept. */
function keptDraft(words: KeptWords): IdeaDraft {
  return ideaDraft.safeParse(words.read(PLACE)).data ?? NOTHING;
}

const typedAtom = atom<IdeaDraft | null>(null);
const draftAtom = atom(
  (get) => get(typedAtom) ?? keptDraft(get(keptWordsAtom)),
  (get, set, draft: IdeaDraft) => {
    set(typedAtom, draft);
    get(keptWordsAtom).keep(PLACE, draft === NOTHING ? null : draft);
  },
);

/**
 * The text being typed on the board. It survives leaving and reloading the page, so that an ended session or a look
 * elsewhere loses no word, and only the user who typed it sees it.
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
