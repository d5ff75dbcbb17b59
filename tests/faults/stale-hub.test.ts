import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { HUB_LOCK, type OperationName, type OutputOf } from '@parley/protocol';
import { expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { checkStored } from '../harness/oracle.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { registerSigner } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';

test('[R2] a hub that slept while another took its folder does nothing of itself any more, and says so', async () => {
  const data = freshFolder();
  const first = await startHub({ data });
  const signer = await registerSigner('k', { data });
  const agent = signer.token({ agent: 'builder' });
  const call = async <N extends OperationName>(
    hub: HubProcess,
    name: N,
    input: object,
  ): Promise<OutputOf<N>> => succeeded(await v1Driver.call(hub.url, agent, name, input));
  const { ask } = await call(first, 'raise_ask', { prompt: 'May I?', expires_in_ms: 2_000 });

  process.kill(first.pid, 'SIGSTOP');
  // As on a network share that forgets its locks.
  rmSync(join(data, HUB_LOCK));
  const second = await startHub({ data });
  const verdicts = async (): Promise<number> => {
    const { messages } = await call(second, 'read_messages', { thread_id: ask.thread_id, limit: 200 });
    return messages.filter(({ metadata }) => metadata?.['verdict'] !== undefined).length;
  };
  await expect.poll(verdicts, { timeout: 10_000 }).toBe(1);

  process.kill(first.pid, 'SIGCONT');
  await expect.poll(() => first.stderr(), { timeout: 10_000 }).toContain('under epoch 1 of the lease');
  await first.kill();
  expect(await verdicts()).toBe(1);
  // The other goes on, and takes back what the first may have taken from it.
  const next = await call(second, 'raise_ask', { prompt: 'And now?', expires_in_ms: 1_000 });
  await expect.poll(verdicts, { timeout: 10_000 }).toBe(2);
  expect(next.ask.ask_id).not.toBe(ask.ask_id);
  expect(await second.stop()).toBe(0);
  await checkStored(data);
}, 60_000);
