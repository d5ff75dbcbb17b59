import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { sqliteModule } from '../../packages/store-sqlite/src/sqlite.ts';
import { fillRecord } from '../harness/fill-record.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { describeWith } from '../tools/describe-with.ts';
import { startHub, temporaryFolder, tokenFor, tryHub } from './crash-hub.ts';
import { clientOf, createThread, ok, post, readAll } from './hub-client.ts';
import { type Ack, expectHonestLog, expectSoundRecord } from './oracle.ts';

const FILES = ['parley.db', 'parley.db-wal', 'parley.db-shm'];
const CALLS = ['openat', 'pread64', 'pwrite64', 'fsync', 'ftruncate', 'mmap'];

/** How a call fails: the process dies at it, it fails once, or it fails from then on. */
const FAULTS = { kill: 'signal=SIGKILL:when=N', once: 'error=EIO:when=N', forever: 'error=EIO:when=N+' };

const KILLED = { signal: 'SIGKILL' };
const REFUSED = { code: 1, stdout: expect.stringContaining('"code":"UNAVAILABLE"') as string };

describeWith(['strace'], 'faults while the hub starts', ({ strace }) => {
  /** The command that starts a hub under a fault, on the database's files alone. */
  function under(folder: string, log: string, calls: string, fault?: string): string[] {
    // The faster way of tracing cannot send signals.
    const fast = fault?.startsWith('signal') === true ? [] : ['--seccomp-bpf'];
    return [strace, '-f', '-s', '0', '-o', log, '-e', `trace=${calls}`].concat(
      fast,
      FILES.flatMap((file) => ['-P', join(folder, file)]),
      fault === undefined ? [] : ['-e', `inject=${calls}:${fault}`],
    );
  }

  /** How often a start makes each call in the thread that makes it most: the range to sweep. */
  async function countCalls(folder: string, log: string): Promise<Map<string, number>> {
    const hub = await startHub(folder, { inside: under(folder, log, CALLS.join(',')) });
    // What the hub does later takes more or fewer calls, by how quick the machine is.
    const calls = readFileSync(log, 'utf8');
    await hub.end('SIGKILL');
    const counts = new Map<string, number>();
    for (const [, thread, call] of calls.matchAll(/^(\d+) +(\w+)\(/gm))
      counts.set(`${call} ${thread}`, (counts.get(`${call} ${thread}`) ?? 0) + 1);
    return new Map(
      CALLS.map((call) => [
        call,
        Math.max(0, ...[...counts].filter(([key]) => key.startsWith(`${call} `)).map(([, count]) => count)),
      ]),
    );
  }

  /** Starts a hub that meets the fault, in its start, in what it does next or at its end, and sees it end. */
  async function startUnder(folder: string, log: string, call: string, fault: string): Promise<void> {
    const kills = fault.startsWith('signal');
    const hub = await tryHub(folder, { inside: under(folder, log, call, fault) });
    if ('url' in hub) {
      const isMet = (): boolean =>
        readFileSync(log, 'utf8').includes(kills ? 'killed by SIGKILL' : 'INJECTED');
      for (let looks = 0; looks < 50 && !isMet(); looks++) await sleep(20);
      const ending = await hub.end(isMet() ? 'SIGKILL' : 'SIGTERM');
      if (kills) expect(ending, `${call} ${fault}`).toMatchObject(KILLED);
      expect(isMet(), `${call} ${fault}`).toBe(true);
    } else expect(hub, `${call} ${fault}`).toMatchObject(kills ? KILLED : REFUSED);
  }

  /** So many of a call's turns at most, as far from each other as from both ends. */
  function turns(count: number, most: number): number[] {
    const steps = Math.min(count, most);
    return Array.from({ length: steps }, (_, i) => Math.ceil(((i + 0.5) * count) / steps));
  }

  /** Points of the sweep, each with every kind of fault or with the next one in turn. */
  function points(counts: Map<string, number>): { call: string; fault: string }[] {
    const { points: most, everyFault } = sizeOf('C-DUR-04');
    const kinds = Object.values(FAULTS);
    return [...counts]
      .flatMap(([call, count]) => turns(count, most).map((at) => ({ call, at })))
      .flatMap(({ call, at }, i) => {
        const tried = everyFault ? kinds : [kinds[i % kinds.length]!];
        return tried.map((kind) => ({ call, fault: kind.replace('N', String(at)) }));
      });
  }

  test(
    '[C-DUR-04] [R1] [R9] a fault at any call of the recovery leaves a record that the next start recovers',
    async () => {
      const crashed = temporaryFolder();
      const hub = await startHub(crashed);
      const token = await tokenFor(crashed, 'alice');
      const alice = clientOf(hub.url, 'alice', token);
      const thread = await createThread(alice);
      const acks: Ack[] = [];
      for (let i = 0; i < 40; i++) {
        const entry = { agent: 'alice', key: `k${i}`, body: `message ${i}` };
        acks.push({ ...entry, ...ok(await post(alice, thread, entry.body, entry.key)) });
      }
      await hub.end('SIGKILL');

      const scratch = temporaryFolder();
      const dry = join(scratch, 'dry');
      cpSync(crashed, dry, { recursive: true });
      const counts = await countCalls(dry, join(scratch, 'dry.log'));
      expect([...counts.values()].every((count) => count > 0)).toBe(true);
      const sweep = points(counts);
      measured('C-DUR-04', 'points of the sweep', String(sweep.length));
      for (const [i, { call, fault }] of sweep.entries()) {
        const folder = join(scratch, String(i));
        const log = join(scratch, `${i}.log`);
        cpSync(crashed, folder, { recursive: true });
        await startUnder(folder, log, call, fault);

        const third = await startHub(folder);
        expectHonestLog(await readAll(clientOf(third.url, 'alice', token), thread), acks);
        await third.end('SIGKILL');
        expectSoundRecord(folder);
      }
    },
    sizeOf('C-DUR-04').timeoutMs,
  );

  test(
    '[C-DUR-19] [R9] killed at any step of making the schema, the next start has it whole',
    async () => {
      const scratch = temporaryFolder();
      const counts = await countCalls(join(scratch, 'dry'), join(scratch, 'dry.log'));
      let kills = 0;
      for (const call of ['pwrite64', 'fsync']) {
        const count = counts.get(call) ?? 0;
        expect(count).toBeGreaterThan(3);
        for (const at of turns(count, sizeOf('C-DUR-19').points)) {
          const folder = join(scratch, `${call}-${at}`);
          const fault = FAULTS.kill.replace('N', String(at));
          await startUnder(folder, `${folder}.log`, call, fault);
          kills++;

          const second = await startHub(folder);
          const alice = clientOf(second.url, 'alice', await tokenFor(folder, 'alice'));
          const thread = await createThread(alice);
          ok(await post(alice, thread, 'hello', 'key'));
          await second.end('SIGKILL');
          expectSoundRecord(folder);
        }
      }
      measured('C-DUR-19', 'kills', String(kills));
    },
    sizeOf('C-DUR-19').timeoutMs,
  );
});

test('[C-DUR-19] a record of a newer Parley is refused in words, and left as it was', async () => {
  const folder = temporaryFolder();
  await fillRecord(folder, []);
  const path = join(folder, 'parley.db');
  const db = new (sqliteModule().DatabaseSync)(path);
  db.exec('PRAGMA user_version = 99');
  db.close();
  const before = readFileSync(path);
  const refused = await tryHub(folder);
  expect(refused).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/schema version 99.*newer Parley/),
  });
  expect(readFileSync(path).equals(before)).toBe(true);
});
