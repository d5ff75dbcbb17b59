import { signal } from '@preact/signals';

const KEPT = 'first-steps';

/** True from the moment the first steps were shown on this device until somebody puts them away. */
export const stepsOpen = signal(localStorage.getItem(KEPT) === 'open');

/** Shows the first steps from now on, or puts them away. */
export function keepSteps(open: boolean): void {
  localStorage.setItem(KEPT, open ? 'open' : 'over');
  stepsOpen.value = open;
}

/** True on a device that was never shown them. */
export const isFirstTime = (): boolean => localStorage.getItem(KEPT) === null;
