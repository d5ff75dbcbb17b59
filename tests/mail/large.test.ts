import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openMail } from '@parley/mail';
import { expect, test } from 'vitest';

import { timed } from '../harness/latency.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { useHome } from './use-home.ts';

const { home, inbox, archived } = useHome('red', 'arch', 'bob');

const openDesk = () =>
  openMail({
    teams: join(home(), '.claude/teams'),
    archive: join(home(), '.config/atm/mail'),
    team: 'red',
    now: () => new Date(),
    newId: randomUUID,
    log: () => {},
  });

test('[C-MAIL-09] an inbox of 5,000 mails and 5 MB goes on being delivered, ten at a time and in order', async () => {
  const body = 'x'.repeat(900);
  const many = Array.from({ length: 5_000 }, (_, i) => ({
    from: 'bob',
    text: `mail ${i} ${body}`,
    timestamp: new Date(1_771_400_000_000 + i).toISOString(),
    read: false,
  }));
  writeFileSync(inbox('arch'), JSON.stringify(many, null, 2));
  const teamMail = openDesk();
  expect(await teamMail.pending('arch')).toBe(5_000);
  for (const turn of [0, 1, 2]) {
    let mails: Awaited<ReturnType<typeof teamMail.read>> = [];
    const ms = await timed(
      async () => (mails = await teamMail.read('arch', { limit: 10, mark_read: false })),
    );
    measured('C-MAIL-09', 'a read', `${Math.round(ms)} ms`);
    expect(ms).toBeLessThan(sizeOf('C-MAIL-09').readMs);
    expect(mails.map(({ message }) => message.split(' ')[1])).toEqual(
      Array.from({ length: 10 }, (_, i) => String(turn * 10 + i)),
    );
    await teamMail.markRead(
      'arch',
      mails.map(({ message_id }) => message_id),
    );
  }
  await teamMail.send('bob', { to: 'arch', message: 'one more' });
  expect(await openDesk().pending('arch')).toBe(4_971);
  expect(await openDesk().read('arch', { all: true, limit: 1 })).toMatchObject([{ message: 'one more' }]);
  expect(archived('arch')).toHaveLength(5_001);
});
