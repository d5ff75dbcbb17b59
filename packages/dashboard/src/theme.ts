import { effect, signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';

const THEMES: readonly Theme[] = ['auto', 'light', 'dark'];

function readTheme(): Theme {
  const stored = localStorage.getItem('theme');
  return THEMES.find((one) => one === stored) ?? 'auto';
}

/** How this device shows the app: as its own setting says, or always one way. */
export const theme = signal<Theme>(readTheme());

/** Shows the page in the chosen way from now on. */
export function applyTheme(): void {
  effect(() => {
    if (theme.value === 'auto') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme.value;
  });
}

export function setTheme(value: Theme): void {
  theme.value = value;
  if (value === 'auto') localStorage.removeItem('theme');
  else localStorage.setItem('theme', value);
}
