import { setTimeout as sleep } from 'node:timers/promises';

import type { Ask, OperationName, OutputOf } from '@parley/protocol';
import { expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { checkStored } from '../harness/oracle.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { onPostgres } from '../harness/store-profile.ts';
import { registerSigner } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';

test('asks stand over a crash in every state, and what ran out of time meanwhile is denied on record', async () => {
  const data = freshFolder();
  let hub: HubProcess = await startHub({ data });
  const signer = await registerSigner('k', { data });
  const agent = signer.token({ agent: 'builder' });
  const person = signer.token({ agent: 'ann', role: 'operator', session: 'tablet' });
  const call = async <N extends OperationName>(token: string, name: N, input: object): Promise<OutputOf<N>> =>
    succeeded(await v1Driver.call(hub.url, token, name, input));
  const raise = async (prompt: string, expires_in_ms = 600_000): Promise<Ask> =>
    (await call(agent, 'raise_ask', { prompt, expires_in_ms })).ask;
  const find = async (ask_id: string): Promise<Ask> => (await call(person, 'get_ask', { ask_id })).ask;
  const restart = async (): Promise<void> => {
    await hub.kill();
    hub = await startHub({ data });
  };

  const open = await raise('still open');
  const brief = await raise('soon over', 1_000);
  const later = await raise('over while the hub runs again', 4_000);
  const answering = await raise('answered');
  const answer = { ask_id: answering.ask_id, decision: 'approved', idempotency_key: 'tap' } as const;
  const { ask: answered } = await call(person, 'answer_ask', answer);
  const taken = await raise('taken');
  await call(person, 'answer_ask', { ask_id: taken.ask_id, decision: 'denied' });
  const { ask: resolved } = await call(agent, 'wait_for_ask', { ask_id: taken.ask_id });
  const gone = await raise('withdrawn');
  const { ask: withdrawn } = await call(agent, 'withdraw_ask', { ask_id: gone.ask_id });

  await hub.kill();
  await sleep(Math.max(0, Date.parse(brief.expires_at) - Date.now()));
  hub = await startHub({ data });

  // Nobody has asked for it yet: the hub itself puts it on record when it starts.
  const journal = async () =>
    (await call(agent, 'read_messages', { thread_id: open.thread_id, limit: 200 })).messages;
  const verdictOf = async (ask_id: string) =>
    (await journal()).flatMap(({ metadata }) =>
      metadata?.['ask_id'] === ask_id && metadata['verdict'] !== undefined ? [metadata['verdict']] : [],
    );
  const denied = { decision: 'denied', by: 'parley', device: 'hub', reason: 'nobody answered in time' };
  // Of several nodes that were killed, the one whose job it was has the lease for six seconds more.
  if (onPostgres) await expect.poll(() => verdictOf(brief.ask_id), { timeout: 10_000 }).toHaveLength(1);
  expect(await verdictOf(brief.ask_id)).toEqual([{ ...denied, at: brief.expires_at }]);
  expect(await find(brief.ask_id)).toMatchObject({ status: 'resolved', verdict: denied });
  expect(await find(open.ask_id)).toEqual(open);
  expect(await find(answering.ask_id)).toEqual(answered);
  expect(await find(taken.ask_id)).toEqual(resolved);
  expect(await find(gone.ask_id)).toEqual(withdrawn);

  // A tap whose answer was lost in the crash is repeated, and is one tap.
  expect((await call(person, 'answer_ask', answer)).ask).toEqual(answered);
  expect((await call(agent, 'wait_for_ask', { ask_id: answering.ask_id })).ask).toMatchObject({
    status: 'resolved',
    verdict: answered.verdict,
  });
  // The keeper knows those that were open before it.
  await expect.poll(() => verdictOf(later.ask_id), { timeout: 10_000 }).toHaveLength(1);
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(later.expires_at));

  await restart();
  expect((await call(person, 'list_asks', {})).asks).toEqual([open]);
  expect(
    (await call(person, 'list_asks', { status: 'all' })).asks.map(({ prompt, status }) => [prompt, status]),
  ).toEqual([
    ['withdrawn', 'resolved'],
    ['taken', 'resolved'],
    ['answered', 'resolved'],
    ['over while the hub runs again', 'resolved'],
    ['soon over', 'resolved'],
    ['still open', 'open'],
  ]);
  expect(await hub.stop()).toBe(0);
  await checkStored(data);
});

test('who waits while the hub stops is let go and finds the answer at the next one', async () => {
  const data = freshFolder();
  let hub = await startHub({ data });
  const signer = await registerSigner('k', { data });
  const agent = signer.token({ agent: 'builder' });
  const { ask } = succeeded(await v1Driver.call(hub.url, agent, 'raise_ask', { prompt: 'May I?' }));
  const waiting = v1Driver.call(hub.url, agent, 'wait_for_ask', { ask_id: ask.ask_id, timeout_ms: 60_000 });
  await sleep(300);
  const stopping = hub.stop();
  expect(succeeded(await waiting)).toEqual({ ask, timed_out: true });
  expect(await stopping).toBe(0);
  hub = await startHub({ data });
  const person = signer.token({ agent: 'ann', role: 'operator' });
  succeeded(await v1Driver.call(hub.url, person, 'answer_ask', { ask_id: ask.ask_id, decision: 'approved' }));
  const reported = succeeded(await v1Driver.call(hub.url, agent, 'wait_for_ask', { ask_id: ask.ask_id }));
  expect(reported).toMatchObject({ timed_out: false, ask: { verdict: { decision: 'approved' } } });
  await hub.stop();
});
