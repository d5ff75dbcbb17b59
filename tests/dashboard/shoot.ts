import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

import type { ConsoleMessage, Page } from 'playwright-core';
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

type Look = readonly [Seat, Scheme];

const others = {
  touch: [
    ['tablet', 'dark'],
    ['landscape', 'light'],
    ['phone', 'light'],
  ],
  desktop: [['desktop', 'dark']],
} as const satisfies Record<string, readonly Look[]>;

/** How each kind of device is held while a view is examined, and the other ways when somebody wants to look: nothing is loaded anew for that. */
export const LOOKS: Readonly<Record<keyof typeof others, readonly Look[]>> = {
  touch: [
    ['tablet', 'light'],
    ['landscape', 'dark'],
    ['phone', 'dark'],
    ...(folder === undefined ? [] : others.touch),
  ],
  desktop: [['desktop', 'light'], ...(folder === undefined ? [] : others.desktop)],
};

export type Device = keyof typeof LOOKS;

export const DEVICES = Object.keys(LOOKS) as Device[];

/** Brings a page to a view: to where it is, and what must be there before it counts. */
export type Show = (page: Page, url: string) => Promise<void>;

/** What a browser is told so that it shows a page to this device, without motion. */
export const seatOf = (device: Device) =>
  ({
    viewport: SEATS[device === 'touch' ? 'tablet' : device].viewport,
    colorScheme: 'light',
    reducedMotion: 'reduce',
    // The examiner is brought in as a script of its own, which the page's policy would refuse.
    bypassCSP: true,
  }) as const;

/** The screen as which a device opens its pages. */
export const screenOf = (device: Device): Screen => (device === 'touch' ? 'tablet' : device);

/** A page of a signed-in device. */
export const sitAt = (desk: Desk, device: Device): Promise<Page> =>
  desk.signedIn(screenOf(device), seatOf(device));

const FRAMES = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

/** Turns the screen and dims the room, as people do with a page that is open. */
export async function hold(page: Page, seat: Seat, colorScheme: Scheme): Promise<void> {
  await page.setViewportSize(SEATS[seat].viewport);
  await page.emulateMedia({ colorScheme });
  await page.evaluate(FRAMES);
}

/** What the browser itself notes of a refusal, such as of a request that is not there, and of a hub that goes away. */
const OF_THE_BROWSER = /^Failed to load resource: (?:the server responded with a status of 4\d\d|net::ERR_)/;

/** Goes through views, each in all the ways in which the device is held: nothing that axe finds, no error in the console, no sideways scrolling, all targets large enough. */
export async function examine(
  page: Page,
  url: string,
  device: Device,
  views: Record<string, Show>,
): Promise<void> {
  const looks = LOOKS[device];
  let held: Look | undefined;
  const turn = async (look = looks[0]): Promise<void> => {
    if (look === undefined || look === held) await page.evaluate(FRAMES);
    else await hold(page, ...look);
    held = look;
  };
  const found: Record<string, unknown> = {};
  const errors: string[] = [];
  const onError = ({ message }: Error): number => errors.push(message);
  const onWord = (said: ConsoleMessage): void => {
    if (said.type() === 'error' && !OF_THE_BROWSER.test(said.text())) errors.push(said.text());
  };
  page.on('pageerror', onError);
  page.on('console', onWord);
  for (const [name, show] of Object.entries(views)) {
    let at = name;
    try {
      await turn();
      await show(page, url);
      for (const look of looks) {
        const [seat, light] = look;
        at = `${name}, ${seat} in ${light}`;
        await turn(look);
        // Whoever examines it moves it.
        if (folder !== undefined) await shoot(page, folder, `${name}-${seat}-${light}`);
        const misfitting = await page.evaluate<string[]>(misfits(SEATS[seat].screen));
        const faults = [...(await axe(page)), ...misfitting, ...errors.splice(0)];
        if (faults.length > 0) found[at] = faults;
      }
    } catch (error) {
      found[at] = error;
    }
  }
  page.off('pageerror', onError);
  page.off('console', onWord);
  expect(found).toEqual({});
}

/** A picture of what the page shows once it rests. */
export async function shoot(page: Page, into: string, name: string): Promise<Buffer> {
  mkdirSync(into, { recursive: true });
  await page.evaluate('new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve), 300))');
  return page.screenshot({ path: join(into, `${name.replaceAll(/\W+/g, '-')}.png`) });
}
