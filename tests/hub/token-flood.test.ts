import { request } from 'node:http';

import { expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { percentile, timed } from '../harness/latency.ts';
import { residentMb } from '../harness/memory.ts';
import { note } from '../harness/oracle.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { send } from '../harness/send.ts';
import { createSigner } from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();

/** How much slower than the cases allow a shared test machine may be. */
const { slack: SLACK, floodMs: FLOOD_MS } = sizeOf('C-AUTH-24');

test('[C-AUTH-24] a flood of bad tokens is slowed down and leaves other peers alone', async () => {
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const work = (): Promise<number> => timed(() => alice.ok('read_messages', { thread_id }));
  const quiet: number[] = [];
  for (let i = 0; i < 100; i++) quiet.push(await work());

  const mallory = createSigner('nobody');
  const codes: Record<string, number> = {};
  const flood = async (): Promise<void> => {
    for (let i = 0; i < 100; i++) {
      const answer = await v1Driver.call(
        scene.hub.url,
        mallory.token({ agent: 'alice' }),
        'list_threads',
        {},
        {
          localAddress: '127.0.0.2',
        },
      );
      note(scene.ledger, answer, {});
      const code = answer.error?.code ?? 'accepted';
      codes[code] = (codes[code] ?? 0) + 1;
      if (code === 'RATE_LIMITED') expect(Number(answer.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    }
  };
  const flooding = timed(() => Promise.all([flood(), flood(), flood(), flood(), flood()]));
  const busy: number[] = [];
  for (let i = 0; i < 100; i++) busy.push(await work());
  const floodedMs = await flooding;

  expect(Object.keys(codes).toSorted()).toEqual(['RATE_LIMITED', 'UNAUTHORIZED']);
  expect((codes['UNAUTHORIZED'] ?? 0) + (codes['RATE_LIMITED'] ?? 0)).toBe(500);
  measured(
    'C-AUTH-24',
    '500 refused in, p95 of the other, alone',
    `${Math.round(floodedMs)} ms, ${percentile(busy, 0.95).toFixed(1)} ms, ${percentile(quiet, 0.95).toFixed(1)} ms`,
  );
  expect(floodedMs).toBeLessThan(FLOOD_MS);
  // A tiny base is mostly the machine's own noise: below 10 ms nobody waits.
  expect(percentile(busy, 0.95)).toBeLessThan(Math.max(10, 2 * percentile(quiet, 0.95)) * SLACK);
  // Even from the flooding address a good token works.
  const same = await v1Driver.call(
    scene.hub.url,
    alice.token,
    'list_threads',
    {},
    { localAddress: '127.0.0.2' },
  );
  expect(same.status).toBe(200);
});

test('[C-AUTH-26] [R10] an Authorization header of 15 KB is refused and leaves nothing behind', async () => {
  const header = `Bearer ${'a'.repeat(15_000)}`;
  const one = async (): Promise<number> => {
    const { status } = await send(`${scene.hub.url}/v1/list_threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: header },
      body: '{}',
      localAddress: '127.0.0.3',
    });
    return status;
  };
  await checkFlat(one, [401, 429]);
});

test('[C-AUTH-26] [R10] an Authorization header of 1 MB is cut off and leaves nothing behind', async () => {
  const authorization = `Bearer ${'a'.repeat(1_000_000)}`;
  const one = (): Promise<number> =>
    new Promise((resolve, reject) => {
      const outgoing = request(`${scene.hub.url}/v1/threads`, { agent: false, headers: { authorization } });
      outgoing.once('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      // The hub may have closed before the whole header was sent.
      outgoing.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ECONNRESET' || error.code === 'EPIPE' ? resolve(0) : reject(error),
      );
      outgoing.end();
    });
  await checkFlat(one, [431, 0]);
});

/** Once the heap has found its size, a hundred tries more add less than 5 MB. */
async function checkFlat(one: () => Promise<number>, expected: readonly number[]): Promise<void> {
  const sizes: number[] = [];
  for (let i = 0; i < 12; i++) {
    for (let k = 0; k < 100; k++) expect(expected).toContain(await one());
    sizes.push(residentMb(scene.hub.pid));
  }
  // The collector lets tens of megabytes of read buffers gather before it looks at them.
  const [settled = 0, last = 0] = [sizes[7], sizes[11]];
  expect((last - settled) / 4, `after each hundred: ${sizes.join(' ')}`).toBeLessThan(5);
}
