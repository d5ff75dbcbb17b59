import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { openMail } from '@parley/mail';

import { freshFolder, removeFolder } from './hub-process.ts';
import { line } from './report.ts';

const MAILS = 10_000;
const ROUNDS = 9;

/** Work on an inbox of 10,000 mails beside a plain read and write of the same file as JSON. */
export async function benchMail(): Promise<void> {
  const home = freshFolder();
  const teams = join(home, 'teams');
  const inbox = join(teams, 'red', 'inboxes', 'arch.json');
  mkdirSync(join(teams, 'red', 'inboxes'), { recursive: true });
  writeFileSync(
    join(teams, 'red', 'config.json'),
    JSON.stringify({ name: 'red', members: [{ name: 'arch' }] }),
  );
  const mails = Array.from({ length: MAILS }, (_, i) => ({
    from: 'bob',
    text: `mail ${i}: ${'some words '.repeat(20)}`,
    timestamp: new Date(1_771_400_000_000 + i).toISOString(),
    read: false,
    message_id: randomUUID(),
  }));
  writeFileSync(inbox, JSON.stringify(mails, null, 2));
  const desk = openMail({
    teams,
    archive: join(home, 'mail'),
    team: 'red',
    now: () => new Date(),
    newId: randomUUID,
    log: () => {},
  });
  try {
    const copy = join(home, 'copy.json');
    const plain = await median(() =>
      writeFileSync(copy, JSON.stringify(JSON.parse(readFileSync(inbox, 'utf8')), null, 2)),
    );
    line(`plain JSON, ${MAILS} mails`, `${plain.toFixed(1)} ms to read and write`);
    const tell = (what: string, ms: number): void =>
      line(what, `${ms.toFixed(1)} ms, ${(ms / plain).toFixed(2)} × plain`);
    const first = performance.now();
    await desk.read('arch', { limit: 10, mark_read: false });
    tell('first read, all into the archive', performance.now() - first);
    tell('pending', await median(() => desk.pending('arch')));
    tell('read 10', await median(() => desk.read('arch', { limit: 10, mark_read: false })));
    tell('read 10 and mark them', await median(() => desk.read('arch', { limit: 10 })));
    tell(
      'read the last 10 of all',
      await median(() => desk.read('arch', { all: true, limit: 10, mark_read: false })),
    );
    tell('send', await median(() => desk.send('bob', { to: 'arch', message: 'one more' })));
    const together = (): Promise<unknown> =>
      Promise.all(Array.from({ length: 50 }, () => desk.send('bob', { to: 'arch', message: 'one more' })));
    tell('send, of 50 at once', (await median(together)) / 50);
  } finally {
    desk.close();
    removeFolder(home);
  }
}

async function median(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < ROUNDS; i += 1) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
}
