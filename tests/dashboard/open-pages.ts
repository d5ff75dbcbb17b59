import type { Page } from 'playwright-core';

import { type Desk, type Screen, SIZES } from './desk.ts';

/** The narrow page under a finger and the wide one under a mouse: what works on both finds nothing new between them. */
export const ENDS = ['phone', 'desktop'] as const satisfies Screen[];

/** One page of each size, signed in for all tests of a file. What they are about does not move, and each picture costs. */
export async function openPages(desk: Desk): Promise<Record<Screen, Page>>;
export async function openPages<S extends Screen>(desk: Desk, sizes: readonly S[]): Promise<Record<S, Page>>;
export async function openPages(desk: Desk, sizes: readonly Screen[] = SIZES) {
  const pages: Partial<Record<Screen, Page>> = {};
  for (const screen of sizes) pages[screen] = await desk.signedIn(screen, { reducedMotion: 'reduce' });
  return pages;
}
