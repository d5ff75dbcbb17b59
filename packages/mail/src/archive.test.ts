import { appendFileSync, fstatSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';

import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { native, useTeams } from './test-team.ts';

const { archivePath, home, makeTeam, open, read, write } = useTeams();

const linesOf = () => readFileSync(archivePath('red', 'arch'), 'utf8').trim().split('\n');
const words = (mails: { message: string }[]) => mails.map(({ message }) => message);

test('[FR-4.3] all shows what Claude Code has deleted since, with its first words and time', async () => {
  makeTeam('red', 'arch');
  const teamMail = open('red');
  write('red', 'arch', [native('bob', 'one'), { ...native('bob', 'two'), msg_id: 'n-2', color: 'blue' }]);
  await teamMail.read('arch', { mark_read: false });
  write('red', 'arch', [native('eve', 'three')]);
  expect(words(await teamMail.read('arch'))).toEqual(['three']);
  write('red', 'arch', []);
  const all = await open('red').read('arch', { all: true });
  expect(words(all)).toEqual(['one', 'two', 'three']);
  expect(all.every((mail) => mail.read)).toBe(true);
  expect(all[1]).toMatchObject({ message_id: 'n-2', from: 'bob' });
});

test('mail is archived when all of it is synced, not before', async () => {
  makeTeam('red', 'arch');
  const handle = await openFile(home(), 'r');
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const sync = Reflect.get(handles, 'sync');
  const synced: number[] = [];
  const spy = vi.spyOn(handles, 'sync').mockImplementation(function (this: FileHandle) {
    const stat = fstatSync(this.fd);
    if (stat.ino === statSync(archivePath('red', 'arch')).ino) synced.push(stat.size);
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  const sizes: number[] = [];
  for (const word of ['one', 'two']) {
    write('red', 'arch', [native('bob', word)]);
    await open('red').read('arch', { mark_read: false });
    sizes.push(statSync(archivePath('red', 'arch')).size);
  }
  expect(synced).toEqual(sizes);
});

test('nothing is doubled in the archive, whoever looks and however often', async () => {
  makeTeam('red', 'arch');
  const many = Array.from({ length: 200 }, (_, i) => native('bob', `mail ${i}`));
  write('red', 'arch', [...many, ...many.slice(0, 5)]);
  const teamMails = [open('red'), open('red'), open('red')];
  await Promise.all(
    teamMails.flatMap((teamMail) => [1, 2].map(() => teamMail.read('arch', { mark_read: false }))),
  );
  expect(linesOf()).toHaveLength(200);
  expect(await teamMails[0]?.read('arch', { all: true })).toHaveLength(200);
});

test('mail without an id has one that stays the same, in the inbox and in the archive', async () => {
  makeTeam('red', 'arch');
  write('red', 'arch', [native('bob', 'one'), native('bob', 'two'), native('eve', 'one')]);
  const first = await open('red').read('arch', { mark_read: false });
  expect(new Set(first.map((mail) => mail.message_id)).size).toBe(3);
  expect(await open('red').read('arch', { mark_read: false })).toEqual(first);
  write('red', 'arch', []);
  const later = await open('red').read('arch', { all: true });
  expect(later.map((mail) => mail.message_id)).toEqual(first.map((mail) => mail.message_id));
});

describe('marking by id', () => {
  test('marks just these, and again does nothing', async () => {
    makeTeam('red', 'arch');
    write('red', 'arch', [native('bob', 'one'), native('bob', 'two'), native('bob', 'three')]);
    const teamMail = open('red');
    const [one, , three] = await teamMail.read('arch', { mark_read: false });
    for (const _ of [1, 2])
      await teamMail.markRead(
        'arch',
        [one, three].map((mail) => mail?.message_id ?? ''),
      );
    expect(read('red', 'arch').map((entry) => entry['read'])).toEqual([true, false, true]);
    expect(words(await open('red').read('arch', { mark_read: false }))).toEqual(['two']);
    expect(linesOf().filter((line) => line.includes('"kind":"read"'))).toHaveLength(1);
  });

  test('holds when another program puts the unread entry back', async () => {
    makeTeam('red', 'arch');
    const entries = [native('bob', 'one'), native('bob', 'two')];
    write('red', 'arch', entries);
    await open('red').read('arch', { limit: 1 });
    write('red', 'arch', entries);
    expect(await open('red').pending('arch')).toBe(1);
    expect(words(await open('red').read('arch'))).toEqual(['two']);
  });

  test('ids that are nowhere change nothing', async () => {
    makeTeam('red', 'arch');
    write('red', 'arch', [native('bob', 'one')]);
    const teamMail = open('red');
    await teamMail.read('arch', { mark_read: false });
    await teamMail.markRead('arch', ['no-such-id']);
    expect(linesOf()).toHaveLength(1);
    expect(await teamMail.pending('arch')).toBe(1);
  });
});

test('two desks see one history', async () => {
  makeTeam('red', 'arch', 'bob');
  const [one, two] = [open('red'), open('red')];
  await one.send('bob', { to: 'arch', message: 'first' });
  await two.send('bob', { to: 'arch', message: 'second' });
  for (const teamMail of [one, two])
    expect(words(await teamMail.read('arch', { all: true, mark_read: false }))).toEqual(['first', 'second']);
  await one.read('arch');
  expect(await two.pending('arch')).toBe(0);
  expect(await two.read('arch', { all: true })).toHaveLength(2);
});

test('a line that a crash cut off spoils neither those before nor those after it', async () => {
  makeTeam('red', 'arch');
  const teamMail = open('red');
  await teamMail.send('bob', { to: 'arch', message: 'before', message_id: 'm-1' });
  appendFileSync(archivePath('red', 'arch'), '{"kind":"mail","id":"m-2","at":"20');
  await open('red').send('bob', { to: 'arch', message: 'after', message_id: 'm-3' });
  expect(words(await open('red').read('arch', { all: true }))).toEqual(['before', 'after']);
  expect(await teamMail.send('bob', { to: 'arch', message: 'after', message_id: 'm-3' })).toMatchObject({
    duplicate: true,
  });
});

test('an archive that a person took away begins anew', async () => {
  makeTeam('red', 'arch');
  const teamMail = open('red');
  await teamMail.send('bob', { to: 'arch', message: 'one' });
  writeFileSync(archivePath('red', 'arch'), '');
  expect(words(await teamMail.read('arch', { mark_read: false }))).toEqual(['one']);
  expect(linesOf()).toHaveLength(1);
});

describe('the history of an inbox', () => {
  test('goes on from a place, page by page, and marks nothing', async () => {
    makeTeam('red', 'arch');
    const teamMail = open('red');
    expect(await teamMail.history('arch', 0)).toEqual({ mails: [], next: 0 });
    // Longer than a page, so that there are several.
    const texts = [`first ${'x'.repeat(600_000)}`, `second ${'"'.repeat(900_000)}`, 'third', 'fourth'];
    for (const [i, message] of texts.entries())
      await teamMail.send('bob', { to: 'arch', message, message_id: `m${i}` });
    const seen: string[] = [];
    const ends: number[] = [];
    let pages = 0;
    for (let from = 0; ; pages += 1) {
      const { mails, next } = await teamMail.history('arch', from);
      if (next === from) break;
      seen.push(...words(mails));
      ends.push(...mails.map(({ end }) => end));
      from = next;
    }
    expect(seen).toEqual(texts);
    expect(pages).toBeGreaterThan(1);
    const { mails } = await open('red').history('arch', ends[2] ?? 0);
    expect(mails).toMatchObject([{ message: 'fourth', message_id: 'm3', read: false, end: ends[3] }]);
    expect(await teamMail.pending('arch')).toBe(4);
    await teamMail.markRead('arch', ['m3']);
    expect(await teamMail.history('arch', ends[3] ?? 0)).toMatchObject({ mails: [] });
    expect((await teamMail.history('arch', ends[2] ?? 0)).mails).toMatchObject([
      { message_id: 'm3', read: true },
    ]);
  });

  test('takes up what is new in the inbox, and begins anew where the archive was taken away', async () => {
    makeTeam('red', 'arch');
    write('red', 'arch', [native('bob', 'one'), native('bob', 'two')]);
    const teamMail = open('red');
    const { mails, next } = await teamMail.history('arch', 0);
    expect(words(mails)).toEqual(['one', 'two']);
    writeFileSync(archivePath('red', 'arch'), '');
    write('red', 'arch', [native('bob', 'three')]);
    expect(words((await teamMail.history('arch', next)).mails)).toEqual(['three']);
  });
});
