import { effect, signal } from '@preact/signals';

export type Theme = 'auto' | 'light' | 'dark';

/** How this device shows the app: as its own setting says, or always one way. */
export const theme = signal<Theme>((localStorage.getItem('theme') as Theme | null) ?? 'auto');

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
