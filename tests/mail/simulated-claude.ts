/**
 * What Claude Code 2.1.325 does with an inbox, in a process of its own.
 * `write`: appends `count` mails, each under the directory lock, by an atomic write without fsync, and says which are in.
 * `read`: until its input ends and the inbox is empty, takes what is there without a lock, says so, and removes under the lock what it took and what is marked read.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import lockfile from 'proper-lockfile';

interface Entry {
  from: string;
  text: string;
  timestamp: string;
  read?: boolean;
  msg_id?: string;
  message_id?: string;
}

const [role = '', path = '', name = '', count = '0'] = process.argv.slice(2);
const options = { lockfilePath: `${path}.lock`, retries: { retries: 10, minTimeout: 5, maxTimeout: 100 } };

function readInbox(): Entry[] {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Entry[];
  } catch {
    return [];
  }
}

/** Claude Code gives a mail up when the lock stays held; its sender would say it again, and so do we. */
async function change(apply: (entries: Entry[]) => Entry[]): Promise<void> {
  for (;;) {
    let release: () => Promise<void>;
    try {
      release = await lockfile.lock(path, options);
    } catch {
      continue;
    }
    try {
      const temporary = `${path}.tmp.${process.pid}`;
      writeFileSync(temporary, JSON.stringify(apply(readInbox()), null, 2));
      renameSync(temporary, path);
      return;
    } finally {
      await release().catch(() => {});
    }
  }
}

const keyOf = ({ from, timestamp, text }: Entry): string => `${from}|${timestamp}|${text}`;

async function write(): Promise<void> {
  try {
    writeFileSync(path, '[]', { flag: 'wx' });
  } catch {
    // It is there.
  }
  for (let i = 0; i < Number(count); i += 1) {
    const msg_id = randomUUID();
    const text = `${name}-${i}`;
    const timestamp = new Date().toISOString();
    await change((entries) => [
      ...entries,
      { from: name, text, timestamp, msgV: 1, msg_id, type: 'message', read: false },
    ]);
    process.stdout.write(`${msg_id}\n`);
  }
}

async function read(): Promise<void> {
  const input = { ended: false };
  process.stdin.on('end', () => (input.ended = true)).resume();
  for (;;) {
    const taken = readInbox().filter((entry) => entry.read !== true);
    if (taken.length === 0 && input.ended) return;
    if (taken.length === 0) {
      await sleep(10);
      continue;
    }
    for (const entry of taken) process.stdout.write(`${entry.message_id ?? entry.msg_id}\n`);
    const keys = new Set(taken.map(keyOf));
    await change((entries) => entries.filter((entry) => entry.read !== true && !keys.has(keyOf(entry))));
  }
}

await (role === 'write' ? write() : read());
process.exit(0);
