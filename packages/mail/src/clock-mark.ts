import { join } from 'node:path';

import { fieldsOf } from '@parley/protocol';
import { readJson } from './files/read-json.ts';
import { writeWhole } from './files/write-whole.ts';

/** What the clock showed when it was last looked at, and since when it is doubted; it stands beside the archives. */
interface ClockMark {
  seen: number;
  doubted_from?: number;
}

const DAY_MS = 86_400_000;
/** Nobody may have looked for so long before the clock is doubted. */
const UNSEEN_MS = 3 * DAY_MS;
/** How long a doubted clock is looked at before it is believed. */
const BELIEVED_AFTER_MS = DAY_MS;
const NAME = '.clock.json';

/**
 * Whether what is old by this clock may be forgotten. One that has leapt ahead is believed a day later, and not for the
 * first mail that came under it. Where it was never looked at, the newest mail tells when somebody last was here.
 */
export async function isClockTrusted(folder: string, now: number, newest: number): Promise<boolean> {
  const path = join(folder, NAME);
  const mark = nextMark((await readMark(path)) ?? { seen: newest }, now);
  await writeWhole(path, `${JSON.stringify(mark)}\n`);
  return mark.doubted_from === undefined;
}

function nextMark({ seen, doubted_from }: ClockMark, now: number): ClockMark {
  // Who comes once a week is believed the second time.
  if (doubted_from !== undefined && now - doubted_from >= BELIEVED_AFTER_MS) return { seen: now };
  if (now - seen > UNSEEN_MS) return { seen: now, doubted_from: now };
  const isDoubted = doubted_from !== undefined && now >= doubted_from;
  return isDoubted ? { seen: now, doubted_from } : { seen: now };
}

async function readMark(path: string): Promise<ClockMark | undefined> {
  const file = await readJson(path).catch(() => undefined);
  await file?.close();
  const mark = fieldsOf(file?.value);
  // With its moment it is one that was written here.
  return typeof mark['seen'] === 'number' ? (mark as unknown as ClockMark) : undefined;
}
