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
  test('[C-DUR-01] [R1] each of 200 answers leaves after an fsync that covers its record', async () => {
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
    await hub.end('SIGKILL');

    const { answered, uncovered, fsyncs } = followTrace(readFileSync(trace, 'latin1'));
    expect(answered).toEqual(Array.from({ length: WRITERS * POSTS }, (_, i) => i + 1));
    expect(uncovered).toEqual([]);
    expect(fsyncs).toBeGreaterThan(0);
    // Group commit: writers that wait together share an fsync.
    expect(fsyncs).toBeLessThan(WRITERS * POSTS);
  });
});

interface Course {
  /** The seqs that were answered, in ascending order. */
  answered: number[];
  /** Those whose answer left before an fsync of the write-ahead log had returned. */
  uncovered: number[];
  fsyncs: number;
}

/** Walks the system calls in the order the kernel saw them: written, synced, answered. */
function followTrace(text: string): Course {
  const written = new Set<number>();
  const durable = new Set<number>();
  const answered = new Set<number>();
  const uncovered: number[] = [];
  /** Per thread: what was written when its running fsync began. */
  const syncing = new Map<string, number[]>();
  let fsyncs = 0;
  for (const line of text.split('\n')) {
    const [, tid = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const isSync = /^(<\.\.\. )?f(data)?sync/.test(call);
    if (call.startsWith('pwrite') && call.includes('parley.db-wal'))
      for (const seq of seqsIn(call)) written.add(seq);
    if (isSync && call.includes('parley.db-wal')) syncing.set(tid, [...written]);
    if (isSync && call.endsWith(' = 0')) {
      const covered = syncing.get(tid);
      syncing.delete(tid);
      if (covered === undefined) continue;
      fsyncs++;
      for (const seq of covered) durable.add(seq);
    }
    if (/^(write|writev|sendto|sendmsg)\(/.test(call) && call.includes('HTTP/1.1 200')) {
      for (const seq of seqsIn(call)) {
        answered.add(seq);
        if (!durable.has(seq)) uncovered.push(seq);
      }
    }
  }
  return { answered: [...answered].toSorted((a, b) => a - b), uncovered, fsyncs };
}

function seqsIn(call: string): number[] {
  return [...call.matchAll(/\\"seq\\":(\d+),/g)].map(([, seq]) => Number(seq)).filter((seq) => seq > 0);
}
