import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { makeTeam } from './team.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

const FORWARDS = 1_000;
const IDLE = 100;
/** Five times what is promised: `bench/` shows the real figures, this only that nothing is far off. */
const MOST_MS = 50;

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
  const child = spawn(fileURLToPath(new URL('scripted-codex.mjs', import.meta.url)), ['mcp-server'], {
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

test('[NFR-1] [C-PROXY-39] what the proxy adds to a forward is small, also while it looks for the mail of 100 idle sessions', async () => {
  makeTeam(place());
  const settings = ['--set', `max_concurrent_threads=${IDLE}`, '--set', 'mail_poll_interval_ms=50'];
  const proxy = await start({ args: settings });
  const forward = (n: number): Promise<unknown> => proxy.request('echo/this', { id: n });
  await forward(0);
  const bare = await direct();
  expect((await timed(forward)) - bare).toBeLessThan(MOST_MS);
  const sessions = Array.from({ length: IDLE }, (_, n) =>
    proxy.call('codex', { prompt: 'say hi', identity: `s${n}` }),
  );
  await Promise.all(sessions);
  expect((await timed(forward)) - bare).toBeLessThan(MOST_MS);
});
