import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { makeTeam } from './team.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

const FORWARDS = 1_000;
const IDLE = 100;
/** In the short form five times what is promised: it shows only that nothing is far off. */
const { addedMs: MOST_MS } = sizeOf('C-PROXY-39');

const percentile = (times: number[], p: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * p)] ?? 0;

async function timed(ask: (n: number) => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < FORWARDS; n++) {
    const startedAt = performance.now();
    await ask(n);
    times.push(performance.now() - startedAt);
  }
  return percentile(times, 0.95);
}

/** The same child, without anything in between. */
async function direct(): Promise<number> {
  const child = spawn(fileURLToPath(new URL('scripted-codex', import.meta.url)), ['mcp-server'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  try {
    return await timed(async (id) => {
      const answer = once(lines, 'line');
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'echo/this', params: { id } })}\n`);
      await answer;
    });
  } finally {
    child.kill('SIGKILL');
  }
}

function expectSmall(when: string, addedMs: number): void {
  measured('C-PROXY-39', `added at p95, ${when}`, `${addedMs.toFixed(2)} ms`);
  expect(addedMs, when).toBeLessThan(MOST_MS);
}

test('[NFR-1] [C-PROXY-39] what the proxy adds to a forward is small, also while it looks for the mail of 100 idle sessions', async () => {
  makeTeam(place());
  const settings = ['--set', `max_concurrent_threads=${IDLE}`, '--set', 'mail_poll_interval_ms=50'];
  const proxy = await start({ args: settings });
  const forward = (n: number): Promise<unknown> => proxy.request('echo/this', { id: n });
  await forward(0);
  const bare = await direct();
  expectSmall('alone', (await timed(forward)) - bare);
  const sessions = Array.from({ length: IDLE }, (_, n) =>
    proxy.call('codex', { prompt: 'say hi', identity: `s${n}` }),
  );
  await Promise.all(sessions);
  expectSmall('beside idle sessions', (await timed(forward)) - bare);
});
