import { atom, type createStore, useAtomValue, useSetAtom } from 'jotai';

export interface ToastContent {
  readonly title: string;
  readonly description?: string;
  /** The server's message as a separate line, so that the specified texts stay unchanged. */
  readonly reason?: string;
  /** Destructive toasts report failures and are announced at once; a notice says what is needed first. */
  readonly tone?: 'default' | 'notice' | 'destructive';
}

/** `closing` toasts are being hidden and are removed after `TOAST.removeDelayMs`. */
export interface Toast extends ToastContent {
  readonly id: number;
  readonly phase: 'open' | 'closing';
}

type Store = ReturnType<typeof createStore>;

const currentAtom = atom<Toast | null>(null);
const lastIdAtom = atom(0);

/** The visible toast (specification section 9: one at a time). */
export const toastAtom = atom((get) => get(currentAtom));

/** Shows a toast; a visible one is replaced. */
export const showToastAtom = atom(null, (get, set, content: ToastContent) => {
  const id = get(lastIdAtom) + 1;
  set(lastIdAtom, id);
  set(currentAtom, { ...content, id, phase: 'open' });
});

const dismissToastAtom = atom(null, (get, set, id: number) => {
  const toast = get(currentAtom);
  if (toast?.id === id) set(currentAtom, { ...toast, phase: 'closing' });
});

const removeToastAtom = atom(null, (get, set, id: number) => {
  if (get(currentAtom)?.id === id) set(currentAtom, null);
});

/** Shows a toast from code outside React. */
export function showToast(store: Store, content: ToastContent): void {
  store.set(showToastAtom, content);
}

export function useShowToast(): (content: ToastContent) => void {
  return useSetAtom(showToastAtom);
}

/** The visible toast with its two closing steps, for the one component that shows it. */
export function useToast(): {
  toast: Toast | null;
  dismiss: (id: number) => void;
  remove: (id: number) => void;
} {
  return {
    toast: useAtomValue(toastAtom),
    dismiss: useSetAtom(dismissToastAtom),
    remove: useSetAtom(removeToastAtom),
  };
}
