import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { axe } from './axe.ts';
import type { Desk, Screen } from './desk.ts';
import { misfits } from './misfits.ts';

/** Where the dashboard is looked at: as it lies before a person, at the sizes that they have. */
const SEATS = {
  tablet: { screen: 'tablet', viewport: { width: 820, height: 1180 } },
  landscape: { screen: 'tablet', viewport: { width: 1180, height: 820 } },
  phone: { screen: 'phone', viewport: { width: 390, height: 844 } },
  desktop: { screen: 'desktop', viewport: { width: 1440, height: 900 } },
} as const satisfies Record<string, { screen: Screen; viewport: { width: number; height: number } }>;

export type Seat = keyof typeof SEATS;

export type Scheme = 'light' | 'dark';

/** LOOK=<folder> keeps a picture of every view, to be looked at. */
const folder = process.env['LOOK'];

const examined = [
  ['tablet', 'light'],
  ['landscape', 'dark'],
  ['phone', 'dark'],
  ['desktop', 'light'],
] as const;
const others = [
  ['tablet', 'dark'],
  ['landscape', 'light'],
  ['phone', 'light'],
  ['desktop', 'dark'],
] as const;

/** Where every view is examined; all that there is when somebody wants to look. */
export const LOOKS: readonly (readonly [Seat, Scheme])[] =
  folder === undefined ? examined : [...examined, ...others];

/** Brings a page to a view: to where it is, and what must be there before it counts. */
export type Show = (page: Page, url: string) => Promise<void>;

/** What a browser is told so that it shows the page as it is at this seat, and no motion. */
export const seatOf = (seat: Seat, colorScheme: Scheme) =>
  ({ viewport: SEATS[seat].viewport, colorScheme, reducedMotion: 'reduce' }) as const;

/** A page of a signed-in device at a seat. */
export const sitAt = (desk: Desk, seat: Seat, scheme: Scheme, more = {}): Promise<Page> =>
  desk.signedIn(SEATS[seat].screen, { ...seatOf(seat, scheme), ...more });

/** What the browser itself notes of a refusal, such as of a request that is not there, and of a hub that goes away. */
const OF_THE_BROWSER = /^Failed to load resource: (?:the server responded with a status of 4\d\d|net::ERR_)/;

/** Goes through views at a seat: nothing that axe finds, no error in the console, no sideways scrolling, all targets large enough. */
export async function examine(
  page: Page,
  url: string,
  seat: Seat,
  scheme: Scheme,
  views: Record<string, Show>,
): Promise<void> {
  const found: Record<string, unknown> = {};
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (said) => {
    if (said.type() === 'error' && !OF_THE_BROWSER.test(said.text())) errors.push(said.text());
  });
  for (const [name, show] of Object.entries(views)) {
    try {
      await show(page, url);
      // Whoever examines it moves it.
      if (folder !== undefined) await shoot(page, folder, `${name}-${seat}-${scheme}`);
      const misfitting = await page.evaluate<string[]>(misfits(SEATS[seat].screen));
      const faults = [...(await axe(page)), ...misfitting, ...errors.splice(0)];
      if (faults.length > 0) found[name] = faults;
    } catch (error) {
      found[name] = error;
    }
  }
  expect(found).toEqual({});
}

/** A picture of what the page shows once it rests. */
export async function shoot(page: Page, into: string, name: string): Promise<Buffer> {
  mkdirSync(into, { recursive: true });
  await page.evaluate('new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve), 300))');
  return page.screenshot({ path: join(into, `${name.replaceAll(/\W+/g, '-')}.png`) });
}
