import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { allDone, type MailProcess, startMailProcess } from './mail-process.ts';
import { useHome } from './use-home.ts';

const { home, inbox, entries, archived } = useHome('red', 'bob');

const LONG = { timeout: 300_000 };
const ours = (name: string, first: number, count: number) =>
  startMailProcess('send-many.ts', [home(), 'red', 'bob', name, first, count]);
const claude = (role: 'read' | 'write', name: string, count: number) =>
  startMailProcess('simulated-claude.ts', [role, inbox('bob'), name, count]);

test(
  '[FR-20.2] [C-MAIL-06] eight writers, half of them like Claude Code, lose none of 800 mails',
  LONG,
  async () => {
    const writers = [1, 2, 3, 4].flatMap((n) => [
      ours(`ours${n}`, 0, 100),
      claude('write', `claude${n}`, 100),
    ]);
    await allDone(...writers);
    const texts = entries('bob').map(({ text }) => text.replace('text of ', ''));
    const wanted = [1, 2, 3, 4].flatMap((n) =>
      ['ours', 'claude'].flatMap((kind) => Array.from({ length: 100 }, (_, i) => `${kind}${n}-${i}`)),
    );
    expect(texts.toSorted()).toEqual(wanted.toSorted());
  },
);

test(
  '[FR-20.2] writers of the original ATM, which know only flock, lose nothing and we lose nothing to them',
  LONG,
  async () => {
    const atm = startMailProcess('simulated-atm.ts', [inbox('bob'), 'atm', 60]);
    await allDone(atm, ours('ours', 0, 60));
    expect(
      entries('bob')
        .map(({ message_id }) => String(message_id))
        .toSorted(),
    ).toEqual(
      ['atm', 'ours'].flatMap((name) => Array.from({ length: 60 }, (_, i) => `${name}-${i}`)).toSorted(),
    );
  },
);

/** As many mails each way. */
const MANY = 400;

/** Sends them by a writer that is killed again and again, and starts anew with what was not acknowledged. */
async function sendThroughKills(name: string, kills: readonly number[]): Promise<string[]> {
  const acknowledged = new Set<string>();
  const take = ({ reported }: MailProcess): void => reported.forEach((id) => acknowledged.add(id));
  const firstOpen = (): number => {
    for (let i = 0; ; i += 1) if (!acknowledged.has(`${name}-${i}`)) return i;
  };
  for (const more of kills) {
    const first = firstOpen();
    const writer = ours(name, first, MANY - first);
    while (writer.reported.length < more) {
      const ended = await Promise.race([writer.ended, sleep(2)]);
      if (ended !== undefined) throw new Error(`the writer ended by itself: ${ended.stderr}`);
    }
    writer.child.kill('SIGKILL');
    await writer.ended;
    take(writer);
  }
  const first = firstOpen();
  const last = ours(name, first, MANY - first);
  await allDone(last);
  take(last);
  return [...acknowledged];
}

test(
  `[FR-20.2] 2 × ${MANY} mails against a Claude Code that writes, reads and deletes, our writer killed in between: nothing acknowledged is lost, nothing doubled in the archive`,
  LONG,
  async () => {
    const reader = claude('read', 'reader', 0);
    const writer = claude('write', 'claude', MANY);
    const acknowledged = await sendThroughKills('ours', [40, 25, 50, 1, 30, 20, 50]);
    await allDone(writer);
    reader.child.stdin?.end();
    await allDone(reader);
    expect(acknowledged).toHaveLength(MANY);
    const delivered = new Set(reader.reported);
    const lost = [...acknowledged, ...writer.reported].filter((id) => !delivered.has(id));
    expect(lost).toEqual([]);
    expect(writer.reported).toHaveLength(MANY);
    const kept = archived('bob').filter((id) => id.startsWith('ours-'));
    expect(kept.toSorted()).toEqual(acknowledged.toSorted());
    expect(new Set(archived('bob')).size).toBe(archived('bob').length);
  },
);
