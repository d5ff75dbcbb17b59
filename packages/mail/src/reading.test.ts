import { readFileSync } from 'node:fs';

import { describe, expect, test } from 'vitest';

import { native, useTeams } from './test-team.ts';

const { inboxPath, makeTeam, open, read, write } = useTeams();

describe('[FR-4.3] [C-MAIL-03] reading', () => {
  const put = () => {
    makeTeam('red', 'arch');
    write('red', 'arch', [
      { ...native('bob', 'one', '2026-02-18T10:00:00Z'), read: true },
      native('bob', 'two', '2026-02-18T12:30:00+02:00'),
      native('eve', 'three', '2026-02-18T11:00:00.000Z'),
      { ...native('bob', 'four', '2026-02-18T12:00:00Z'), source_team: 'blue', message_id: 'm-4' },
      native('bob', 'five', 'no time at all'),
    ]);
    return open('red');
  };
  const words = (mails: { message: string }[]) => mails.map(({ message }) => message);

  const rows = [
    [{}, ['two', 'three', 'four', 'five']],
    [{ all: true }, ['one', 'two', 'three', 'four', 'five']],
    [{ limit: 2 }, ['two', 'three']],
    [{ all: true, limit: 2 }, ['four', 'five']],
    [{ limit: 50 }, ['two', 'three', 'four', 'five']],
    [{ from: 'eve' }, ['three']],
    [{ from: 'bob', limit: 1 }, ['two']],
    [{ from: 'bob@blue' }, ['four']],
    [{ from: 'nobody' }, []],
    [{ since: '2026-02-18T10:30:00Z' }, ['three', 'four']],
    [{ since: '2026-02-18T05:30:00-05:00' }, ['three', 'four']],
    [{ since: '2026-02-18T10:29:59.999Z' }, ['two', 'three', 'four']],
    [{ since: '2026-02-19' }, []],
    [{ all: true, since: '2026-02-18T09:00:00Z', from: 'bob', limit: 2 }, ['two', 'four']],
  ] as const;
  for (const [query, expected] of rows) {
    for (const mark_read of [undefined, true, false]) {
      test(`${JSON.stringify(query)} with mark_read ${mark_read}`, async () => {
        const teamMail = put();
        const before = read('red', 'arch');
        expect(words(await teamMail.read('arch', { ...query, mark_read }))).toEqual(expected);
        const marked = mark_read === false ? [] : expected;
        const should = before.map((entry) =>
          (marked as readonly unknown[]).includes(entry['text']) ? { ...entry, read: true } : entry,
        );
        expect(read('red', 'arch')).toEqual(should);
        const left = should.filter((entry) => entry['read'] === false).map(({ text }) => text);
        expect(words(await teamMail.read('arch', { mark_read: false }))).toEqual(left);
      });
    }
  }

  test.each([
    { limit: 0 },
    { limit: -1 },
    { limit: 1.5 },
    { limit: Number.NaN },
    { since: 'yesterday' },
    { since: '2026-02-18T10:30:00' },
    { since: '2026-13-45' },
    { since: '' },
  ])('refuses %j', async (query) => {
    const teamMail = put();
    await expect(teamMail.read('arch', query)).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(await teamMail.pending('arch')).toBe(4);
  });

  test('a mail carries its sender, text, time and id', async () => {
    expect((await put().read('arch', { from: 'bob@blue' }))[0]).toEqual({
      from: 'bob',
      source_team: 'blue',
      message: 'four',
      timestamp: '2026-02-18T12:00:00Z',
      message_id: 'm-4',
      read: false,
    });
  });
});

test('[FR-4.7] [C-MAIL-04] pending counts and marks nothing', async () => {
  makeTeam('red', 'arch');
  const teamMail = open('red');
  expect(await teamMail.pending('arch')).toBe(0);
  write('red', 'arch', [
    native('bob', 'one'),
    native('bob', 'two'),
    { ...native('bob', 'three'), read: true },
  ]);
  const bytes = readFileSync(inboxPath('red', 'arch'));
  expect(await teamMail.pending('arch')).toBe(2);
  expect(await teamMail.pending('arch')).toBe(2);
  expect(readFileSync(inboxPath('red', 'arch'))).toEqual(bytes);
});
