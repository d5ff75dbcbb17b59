import type { Page } from 'playwright-core';

import { type Desk, type Screen, SIZES } from './desk.ts';

/** One page of each size, signed in for all tests of a file. What they are about does not move, and each picture costs. */
export async function openPages(desk: Desk): Promise<Record<Screen, Page>> {
  const pages = {} as Record<Screen, Page>;
  for (const screen of SIZES) pages[screen] = await desk.signedIn(screen, { reducedMotion: 'reduce' });
  return pages;
}
