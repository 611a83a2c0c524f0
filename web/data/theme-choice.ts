import { atom, useAtom } from 'jotai';

const THEME_CHOICES = ['system', 'light', 'dark'] as const;
export type ThemeChoice = (typeof THEME_CHOICES)[number];

/** `public/theme.js` reads it too, before the first paint. */
const STORAGE_KEY = 'reelmend-theme';

function storedChoice(): ThemeChoice {
  try {
    const stored = localStorage.getItem(STORAGE_KEY);
    return THEME_CHOICES.find((choice) => choice === stored) ?? 'system';
  } catch {
    return 'system';
  }
}

const chosenAtom = atom<ThemeChoice | null>(null);

const themeChoiceAtom = atom(
  (get): ThemeChoice => get(chosenAtom) ?? storedChoice(),
  (_get, set, choice: ThemeChoice) => {
    set(chosenAtom, choice);
    if (choice === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = choice;
    try {
      localStorage.setItem(STORAGE_KEY, choice);
    } catch {
      // Without storage the choice applies only to this page.
    }
  },
);

/** The theme choice and its setter. */
export function useThemeChoice(): [ThemeChoice, (choice: ThemeChoice) => void] {
  return useAtom(themeChoiceAtom);
}
