import { expect, test } from 'vitest';

import { runJson } from '../harness/run-cli.ts';
import { softPasskey } from '../harness/soft-passkey.ts';
import { describeWith } from '../tools/describe-with.ts';
import { useNodes } from './use-nodes.ts';

describeWith(['postgres'], 'passkeys over several nodes', () => {
  const nodes = useNodes({ count: 2, nats: false, settings: { 'asks.passkey': 'high_risk' } });

  test('what one node let in signs at the other, and a challenge that was used at one is used at both', async () => {
    const [kim, agent] = [nodes.token('kim', { role: 'operator' }), nodes.token('builder')];
    const origin = (nodes.hubs[0]?.url ?? '').replace('127.0.0.1', 'localhost');
    const { code } = await runJson<{ code: string }>(
      ['passkey', 'code', '--person', 'kim', '--workspace', 'w1'],
      { data: nodes.hubs[1]?.data ?? '' },
    );
    const device = softPasskey();
    const begun = await nodes.ok(0, kim, 'begin_passkey', { origin });
    const credential = device.create({ challenge: begun.challenge, origin });
    await nodes.ok(1, kim, 'add_passkey', { code, name: 'tablet', credential });
    const { ask } = await nodes.ok(1, agent, 'raise_ask', {
      kind: 'approval',
      prompt: 'May I?',
      command: 'rm -rf build',
    });
    const answer = { ask_id: ask.ask_id, decision: 'approved' } as const;
    for (const node of [0, 1])
      expect((await nodes.call(node, kim, 'answer_ask', answer)).error?.code).toBe('FORBIDDEN');
    const { challenge } = await nodes.ok(0, kim, 'challenge_ask', { ...answer, origin });
    const passkey = device.get({ challenge, origin, counter: 1 });
    const both = await Promise.all(
      [1, 0].map((node) => nodes.call(node, kim, 'answer_ask', { ...answer, passkey })),
    );
    const done = await nodes.ok(0, kim, 'get_ask', { ask_id: ask.ask_id });
    expect(done.ask.verdict).toMatchObject({ decision: 'approved', by: 'kim' });
    expect(both.some(({ error }) => error === undefined)).toBe(true);
    const [kept] = (await nodes.ok(1, kim, 'list_passkeys', {})).passkeys;
    expect(kept?.uses).toBe(1);
    // The same signature serves for nothing else, wherever it is tried.
    const { ask: next } = await nodes.ok(0, agent, 'raise_ask', {
      prompt: 'x',
      command: 'rm -rf build',
      kind: 'approval',
    });
    for (const node of [0, 1]) {
      const again = await nodes.call(node, kim, 'answer_ask', { ...answer, ask_id: next.ask_id, passkey });
      expect(again.error?.code).toBe('CONFLICT');
    }
  });
});
