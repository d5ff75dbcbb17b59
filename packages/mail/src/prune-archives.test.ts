import { existsSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { type ArchiveLimits, pruneArchives } from './prune-archives.ts';
import { native, useTeams } from './test-team.ts';

const { archivePath, home, makeTeam, open, teams, reported, write } = useTeams();

const DAY_MS = 86_400_000;
const prune = (limits: Partial<ArchiveLimits>, now = new Date()) =>
  pruneArchives({
    archive: join(home(), '.config/atm/mail'),
    teams: teams(),
    limits: { days: null, bytes: null, ...limits },
    now: () => now,
  });
const words = (mails: { message: string }[]) => mails.map(({ message }) => message);
/** A desk whose clock is so many days behind. */
const daysAgo = (days: number) => open('red', { now: () => new Date(Date.now() - days * DAY_MS) });

test('mail beyond its time is forgotten; what is in the inbox stays, read or not', async () => {
  makeTeam('red', 'arch', 'bob');
  const old = daysAgo(40);
  for (const [message, message_id] of [
    ['old', 'm1'],
    ['old and unread', 'm2'],
    ['old and read', 'm3'],
  ] as const)
    await old.send('bob', { to: 'arch', message, message_id });
  await old.markRead('arch', ['m1', 'm3']);
  await open('red').send('bob', { to: 'arch', message: 'new' });
  // As Claude Code does with what it has read.
  const kept = (
    JSON.parse(readFileSync(join(teams(), 'red/inboxes/arch.json'), 'utf8')) as { text: string }[]
  ).filter(({ text }) => text !== 'old');
  write('red', 'arch', kept);
  expect(await prune({ days: 41 })).toMatchObject({ mails: 0, archives: 0, failed: [] });
  expect(await prune({ days: 30 })).toEqual({ mails: 1, archives: 1, failed: [] });
  const teamMail = open('red');
  const all = await teamMail.read('arch', { all: true, mark_read: false });
  expect(all.map(({ message, read }) => [message, read])).toEqual([
    ['old and unread', false],
    ['old and read', true],
    ['new', false],
  ]);
  expect(words(await teamMail.read('arch'))).toEqual(['old and unread', 'new']);
  expect(await prune({ days: 30 })).toMatchObject({ mails: 0 });
  expect(statSync(archivePath('red', 'arch')).mode & 0o777).toBe(0o600);
});

test('an archive that is too large loses its oldest mail, and never what is unread', async () => {
  makeTeam('red', 'arch', 'bob');
  const teamMail = open('red');
  for (let n = 0; n < 20; n++)
    await teamMail.send('bob', { to: 'arch', message: `${n} ${'x'.repeat(1_000)}` });
  expect(await prune({ bytes: 10_000 })).toMatchObject({ mails: 0 });
  await teamMail.read('arch', { limit: 18 });
  write(
    'red',
    'arch',
    (await teamMail.read('arch', { mark_read: false })).map(({ message, message_id, from, timestamp }) => ({
      text: message,
      message_id,
      from,
      timestamp,
      read: false,
    })),
  );
  const { mails } = await prune({ bytes: 10_000 });
  expect(mails).toBeGreaterThan(10);
  const left = words(await open('red').read('arch', { all: true, mark_read: false })).map(
    (text) => text.split(' ')[0],
  );
  expect(left).toEqual(Array.from({ length: 20 - mails }, (_, i) => String(mails + i)));
  expect(words(await teamMail.read('arch', { mark_read: false }))).toHaveLength(2);
});

test('a place that somebody remembers leads to the same mail as before, however often it is pruned', async () => {
  makeTeam('red', 'arch', 'bob');
  const teamMail = daysAgo(40);
  const send = (count: number, from: ReturnType<typeof open>) =>
    Promise.all(
      Array.from({ length: count }, (_, i) => from.send('bob', { to: 'arch', message: `mail ${i}` })),
    );
  await send(30, teamMail);
  const before = (await teamMail.history('arch', 0)).mails;
  const inbox = before.slice(5, 25).map(({ message, message_id, from, timestamp }) => ({
    text: message,
    message_id,
    from,
    timestamp,
    read: true,
  }));
  write('red', 'arch', inbox);
  await prune({ days: 30 });
  const later = open('red');
  for (const [i, { end }] of before.entries()) {
    const { mails, next } = await later.history('arch', end);
    expect(mails.map(({ message_id }) => message_id)).toEqual(
      before.slice(Math.max(i + 1, 5), 25).map(({ message_id }) => message_id),
    );
    expect(await later.history('arch', next)).toEqual({ mails: [], next });
  }
  const last = before.at(-1)?.end ?? 0;
  await later.send('bob', { to: 'arch', message: 'after the first' });
  expect(words((await later.history('arch', last)).mails)).toEqual(['after the first']);
  write('red', 'arch', inbox.slice(10));
  await prune({ days: 30 });
  await later.send('bob', { to: 'arch', message: 'after the second' });
  expect(words((await open('red').history('arch', last)).mails)).toEqual([
    'after the first',
    'after the second',
  ]);
  expect((await later.history('arch', before[17]?.end ?? 0)).mails[0]?.message_id).toBe(
    before[18]?.message_id,
  );
  expect(words((await later.history('arch', 0)).mails)).toHaveLength(12);
});

test('nothing that is sent meanwhile is lost, and what was sent is known', async () => {
  makeTeam('red', 'arch', 'bob');
  const old = daysAgo(40);
  for (let n = 0; n < 20; n++) await old.send('bob', { to: 'arch', message: `old ${n}` });
  write('red', 'arch', []);
  const [one, two] = [open('red'), open('red')];
  const sending = Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      (n % 2 === 0 ? one : two).send('bob', { to: 'arch', message: `new ${n}`, message_id: `n${n}` }),
    ),
  );
  for (let n = 0; n < 5; n++) await prune({ days: 30 });
  await sending;
  await prune({ days: 30 });
  const all = words(await open('red').read('arch', { all: true, mark_read: false }));
  expect(all.toSorted()).toEqual(Array.from({ length: 40 }, (_, n) => `new ${n}`).toSorted());
  expect(await one.send('bob', { to: 'arch', message: 'new 7', message_id: 'n7' })).toMatchObject({
    duplicate: true,
  });
});

test('archives of a team that is gone go with it; an inbox that cannot be read keeps its archive', async () => {
  makeTeam('red', 'arch', 'bob');
  makeTeam('blue', 'arch');
  await daysAgo(40).send('bob', { to: 'arch', message: 'old' });
  await open('blue').send('arch', { to: 'team-lead', message: 'new' });
  write('red', 'arch', '{ not a list');
  expect(await prune({ days: 30 })).toMatchObject({
    mails: 0,
    failed: [{ path: archivePath('red', 'arch') }],
  });
  rmSync(join(teams(), 'red'), { recursive: true });
  expect(await prune({ days: 30 })).toMatchObject({ mails: 1 });
  expect(existsSync(dirname(archivePath('red', 'arch')))).toBe(false);
  expect(existsSync(archivePath('blue', 'team-lead'))).toBe(true);
  expect(reported).toEqual([]);
});

test('a clock far ahead of the last mail makes nothing old', async () => {
  makeTeam('red', 'arch', 'bob');
  await open('red').send('bob', { to: 'arch', message: 'one' });
  write('red', 'arch', [native('bob', 'two')]);
  expect(await prune({ days: 30 }, new Date(Date.now() + 400 * DAY_MS))).toMatchObject({ mails: 0 });
});

test('a mail that came under a clock far ahead does not make it right; a day later it is believed', async () => {
  makeTeam('red', 'arch', 'bob');
  await open('red').send('bob', { to: 'arch', message: 'one' });
  write('red', 'arch', []);
  const later = (days: number) => new Date(Date.now() + days * DAY_MS);
  expect(await prune({ days: 30 })).toMatchObject({ mails: 0 });
  await open('red', { now: () => later(60) }).send('bob', { to: 'arch', message: 'under it' });
  utimesSync(archivePath('red', 'arch'), later(60), later(60));
  expect(await prune({ days: 30 }, later(60))).toMatchObject({ mails: 0, failed: [] });
  expect(await prune({ days: 30 }, later(60.9))).toMatchObject({ mails: 0 });
  // It came back: nothing was lost, and nothing is doubted.
  expect(await prune({ days: 30 }, later(0.1))).toMatchObject({ mails: 0 });
  expect(await prune({ days: 30 }, later(60))).toMatchObject({ mails: 0 });
  expect(await prune({ days: 30 }, later(61.1))).toMatchObject({ mails: 1 });
});
