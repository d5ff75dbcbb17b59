import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { startHub, temporaryFolder } from './crash-hub.ts';
import { connect, createThread, ok, post } from './hub-client.ts';

const WRITERS = 8;
const POSTS = 25;
const CALLS = 'pwrite64,pwritev,pwritev2,fsync,fdatasync,write,writev,sendto,sendmsg';

describeWith(['strace'], 'fsync before the answer', ({ strace }) => {
  test('[C-DUR-01] [R1] each of 200 posts, and of new threads and asks, is answered after an fsync that covers its record', async () => {
    const scratch = temporaryFolder();
    const trace = join(scratch, 'trace');
    const hub = await startHub(join(scratch, 'data'), {
      inside: `${strace} -f --seccomp-bpf -y -s 8192 -e trace=${CALLS} -o`.split(' ').concat(trace),
    });
    const agents = Array.from({ length: WRITERS }, (_, i) => `writer-${i}`);
    const clients = await Promise.all(agents.map((agent) => connect(hub, agent)));
    const thread = await createThread(clients[0]!, agents);
    await Promise.all(
      clients.map(async (client) => {
        for (let i = 0; i < POSTS; i++) ok(await post(client, thread, `${client.agent} says ${i}`));
      }),
    );
    const named = await Promise.all(
      clients.map(async (client) => [
        await createThread(client),
        ok(await client.call<{ ask: { ask_id: string } }>('raise_ask', { prompt: 'may I?' })).ask.ask_id,
      ]),
    );
    await hub.end('SIGKILL');

    const { answered, uncovered, fsyncs } = followTrace(readFileSync(trace, 'latin1'));
    const seqs = Array.from({ length: WRITERS * POSTS }, (_, i) => String.raw`\"seq\":${i + 1},`);
    for (const mark of [...seqs, ...named.flat().flatMap(marksIn)]) expect(answered).toContain(mark);
    expect(uncovered).toEqual([]);
    expect(fsyncs).toBeGreaterThan(0);
    // Group commit: writers that wait together share an fsync.
    expect(fsyncs).toBeLessThan(WRITERS * POSTS);
  });
});

interface Course {
  /** The marks of what was answered. */
  answered: Set<string>;
  /** Those whose answer left before an fsync of the write-ahead log had returned. */
  uncovered: string[];
  fsyncs: number;
}

/** Walks the system calls in the order the kernel saw them: written, synced, answered. */
function followTrace(text: string): Course {
  const written = new Set<string>();
  const durable = new Set<string>();
  const answered = new Set<string>();
  const uncovered: string[] = [];
  /** Per thread: what was written when its running fsync began. */
  const syncing = new Map<string, string[]>();
  let fsyncs = 0;
  for (const line of text.split('\n')) {
    const [, tid = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const isSync = /^(<\.\.\. )?f(data)?sync/.test(call);
    if (call.startsWith('pwrite') && call.includes('parley.db-wal'))
      for (const mark of marksIn(call)) written.add(mark);
    if (isSync && call.includes('parley.db-wal')) syncing.set(tid, [...written]);
    if (isSync && call.endsWith(' = 0')) {
      const covered = syncing.get(tid);
      syncing.delete(tid);
      if (covered === undefined) continue;
      fsyncs++;
      for (const mark of covered) durable.add(mark);
    }
    if (/^(write|writev|sendto|sendmsg)\(/.test(call) && call.includes('HTTP/1.1 200')) {
      for (const mark of marksIn(call)) {
        answered.add(mark);
        if (!durable.has(mark)) uncovered.push(mark);
      }
    }
  }
  return { answered, uncovered, fsyncs };
}

/** What tells one record from another: the number of a message, the id of a thread or of an ask. */
function marksIn(call: string): string[] {
  return [...call.matchAll(/\\"seq\\":[1-9]\d*,|(?:th|ask)_[0-9A-Z]{26}/g)].map(([mark]) => mark);
}
