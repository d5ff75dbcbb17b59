import type { Ask, InputOf, OutputOf } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { storedMessages } from '../harness/oracle.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();
let rooms = 0;

/** An agent, two devices of one person, and an onlooker, in a workspace of their own. */
function room(face = faces[0]) {
  const workspace = `asks-${++rooms}`;
  const options = face === undefined ? { workspace } : { workspace, face };
  return {
    workspace,
    agent: scene.as('builder', options),
    desk: scene.as('ann', { ...options, role: 'operator', session: 'desk' }),
    tablet: scene.as('ann', { ...options, role: 'operator', session: 'tablet' }),
    boss: scene.as('boss', { ...options, role: 'orchestrator' }),
    watcher: scene.as('watcher', { ...options, role: 'observer' }),
    stranger: scene.as('stranger', options),
    foreigner: scene.as('ann', { ...options, workspace: `${workspace}-other`, role: 'operator' }),
  };
}

const push: InputOf<'raise_ask'> & { options: object[] } = {
  kind: 'approval',
  prompt: 'May I push?',
  command: 'git push --force-with-lease',
  cwd: '/src/mobile',
  risk: 'high',
  rule: 'ask before push',
  options: [
    { id: 'once', label: 'Approve once', kind: 'allow_once' },
    { id: 'no', label: 'Deny', kind: 'deny' },
  ],
};

const standing = (error: { details?: Record<string, unknown> }): Ask => error.details?.['ask'] as Ask;

describe.each(faces)('asks over $name', (face) => {
  test('from the raising to the agent that has the answer', async () => {
    const { agent, desk, tablet, watcher, workspace } = room(face);
    const { ask } = await agent.ok('raise_ask', { ...push, expires_in_ms: 60_000 });
    expect(ask).toMatchObject({ ...push, agent_id: 'builder', workspace_id: workspace, status: 'open' });
    expect(Date.parse(ask.expires_at) - Date.parse(ask.created_at)).toBe(60_000);
    const { ask_id } = ask;
    expect((await desk.ok('list_asks', {})).asks).toEqual([ask]);
    expect((await watcher.ok('list_asks', {})).asks).toEqual([ask]);
    const answer = { ask_id, decision: 'approved', option: 'once', scope: 'once' } as const;
    const answered = (await tablet.ok('answer_ask', answer)).ask;
    expect(answered).toMatchObject({
      status: 'answering',
      verdict: { decision: 'approved', option: 'once', scope: 'once', by: 'ann', device: 'tablet' },
    });
    // The same answer again is the same answer, from whichever device.
    expect((await tablet.ok('answer_ask', answer)).ask).toEqual(answered);
    expect((await desk.ok('answer_ask', { ...answer, idempotency_key: 'k' })).ask).toEqual(answered);
    // Another one is told what stands.
    for (const other of [{ decision: 'denied' }, { ...answer, scope: 'rule' }, { ...answer, text: 'ok' }]) {
      const error = await desk.refused('answer_ask', { ask_id, ...other }, 'CONFLICT');
      expect(standing(error)).toEqual(answered);
    }
    await agent.refused('withdraw_ask', { ask_id }, 'CONFLICT');
    // An onlooker does not take the answer away.
    expect(await watcher.ok('wait_for_ask', { ask_id })).toEqual({ ask: answered, timed_out: false });
    const taken = await agent.ok('wait_for_ask', { ask_id });
    expect(taken).toMatchObject({ timed_out: false, ask: { status: 'resolved', verdict: answered.verdict } });
    expect(await agent.ok('wait_for_ask', { ask_id })).toEqual(taken);
    for (const one of [agent, desk, watcher])
      expect((await one.ok('get_ask', { ask_id })).ask).toEqual(taken.ask);
    expect((await desk.ok('list_asks', {})).asks).toEqual([]);
    expect((await desk.ok('list_asks', { status: 'resolved' })).asks).toEqual([taken.ask]);
    // All of it stands in the log, each step by whom it was.
    const { messages } = await agent.ok('read_messages', { thread_id: ask.thread_id });
    expect(
      messages.map((one) => [one.metadata?.['event_type'], one.sender_agent_id, one.human ?? false]),
    ).toEqual([
      ['ask_raised', 'builder', false],
      ['ask_answered', 'ann', true],
      ['ask_resolved', 'builder', false],
    ]);
    expect(messages[0]?.metadata).toMatchObject({ ask_id, ask: push, expires_at: ask.expires_at });
    expect(messages[1]?.metadata).toMatchObject({ ask_id, verdict: answered.verdict });
  });

  test('ask_human waits and brings the answer in one call', async () => {
    const { agent, desk } = room(face);
    const asking = agent.ok('ask_human', {
      prompt: 'Fix both?',
      options: [{ id: 'Fix both' }, { id: 'Open TASK-220' }],
    });
    let open: Ask[] = [];
    await expect.poll(async () => (open = (await desk.ok('list_asks', {})).asks).length).toBe(1);
    const ask_id = open[0]?.ask_id ?? '';
    const error = await desk.refused(
      'answer_ask',
      { ask_id, decision: 'answered', option: 'x' },
      'VALIDATION_ERROR',
    );
    expect(error.details).toMatchObject({ field: 'option', options: ['Fix both', 'Open TASK-220'] });
    await desk.ok('answer_ask', { ask_id, decision: 'answered', option: 'Open TASK-220', text: 'later' });
    expect(await asking).toMatchObject({
      timed_out: false,
      ask: { status: 'resolved', verdict: { option: 'Open TASK-220', text: 'later', by: 'ann' } },
    });
  });

  test('ask_human takes the whole of an ask, and what is of high risk is asked whatever the rules say', async () => {
    const { agent, desk } = room(face);
    const command = 'git push --force origin main';
    for (const one of [command, 'npm test'])
      await desk.ok('add_approval_rule', { of_agent: 'builder', command: one });
    const human = (more: object) =>
      agent.ok('ask_human', { kind: 'approval', prompt: 'May I?', timeout_ms: 0, ...more });
    const { ask } = await human({ command: 'npm test', risk: 'high', rule: 'r', expires_in_ms: 60_000 });
    expect(ask).toMatchObject({ status: 'open', risk: 'high', rule: 'r' });
    expect(Date.parse(ask.expires_at) - Date.parse(ask.created_at)).toBe(60_000);
    for (const risk of ['low', undefined]) {
      const forced = await human({ command, ...(risk === undefined ? {} : { risk }) });
      expect(forced.ask).toMatchObject({ status: 'open', risk: 'high', risk_hints: ['force_push'] });
      expect((await desk.ok('get_ask', { ask_id: forced.ask.ask_id })).ask).toEqual(forced.ask);
    }
    expect((await human({ command: 'npm test' })).ask).toMatchObject({
      status: 'resolved',
      verdict: { decision: 'approved', scope: 'rule' },
    });
    // Options have one form on both; a label that is left out is the id.
    const options = [{ id: 'Fix both' }, { id: 'no', label: 'No', kind: 'deny' as const }];
    const reported = [{ id: 'Fix both', label: 'Fix both', kind: 'choice' }, options[1]];
    expect((await human({ options })).ask.options).toEqual(reported);
    const { message } = await agent.refused('raise_ask', { prompt: 'x', options: ['x'] }, 'VALIDATION_ERROR');
    expect(message).toBe('options.0: must be an object such as {"id":"main"}');
    expect((await agent.ok('raise_ask', { prompt: 'Both?', options })).ask.options).toEqual(reported);
  });

  test('an unknown field is refused where a decision depends on it, and told elsewhere', async () => {
    const { agent, desk, boss } = room(face);
    const { ask_id } = (await agent.ok('raise_ask', { prompt: 'May I?' })).ask;
    const thread_id = await boss.thread('builder');
    await scene.unchanged(async () => {
      for (const [who, name, input, field, meant] of [
        [agent, 'ask_human', { prompt: 'x', timeout_ms: 0, risc: 'high' }, 'risc', 'risk'],
        [agent, 'raise_ask', { prompt: 'x', expire_in_ms: 1_000 }, 'expire_in_ms', 'expires_in_ms'],
        [desk, 'answer_ask', { ask_id, decision: 'approved', scop: 'once' }, 'scop', 'scope'],
        [desk, 'add_approval_rule', { of_agent: 'b', command: 'x', folder: '/a' }, 'folder', undefined],
        [
          desk,
          'add_approval_rule',
          { of_agent: 'b', command: 'x', expires_ms: 9 },
          'expires_ms',
          'expires_in_ms',
        ],
        [
          boss,
          'update_thread_status',
          { thread_id, status: 'closed', reason: 'x', force: 1 },
          'force',
          undefined,
        ],
        [
          boss,
          'control_thread',
          { thread_id, control: { done: true }, for_seconds: 5 },
          'for_seconds',
          'control.mute.for_seconds',
        ],
        [desk, 'pair_device', { readonly: true }, 'readonly', 'read_only'],
        [boss, 'set_quiet', { quiet: true, for_seconds: 60 }, 'for_seconds', undefined],
      ] as const) {
        const { message, details } = await who.refused(name, input, 'VALIDATION_ERROR');
        expect([name, details['field']]).toEqual([name, field]);
        expect(message).toBe(
          `${field}: is not known here${meant === undefined ? '' : `; did you mean ${meant}?`}`,
        );
      }
    });
    const { warnings, messages } = await agent.ok('read_messages', { thread_id, since: 3 });
    expect(warnings).toEqual(['since: is not known here; did you mean since_seq?']);
    expect(messages).toEqual([]);
    const post = { thread_id, schema_version: 1, body: 'x', mentions: ['boss'], sender_agent_id: 'builder' };
    expect(await agent.ok('post_message', { ...post, schema_version: 1 })).toMatchObject({
      seq: 1,
      warnings: ['mentions: is not known here'],
    });
    expect(await agent.ok('get_thread', { thread_id })).not.toHaveProperty('warnings');
  });

  test('who does not wait long enough finds the answer with the next call', async () => {
    const { agent, desk } = room(face);
    const { ask, timed_out } = await agent.ok('ask_human', { prompt: 'May I?', timeout_ms: 0 });
    expect([ask.status, timed_out]).toEqual(['open', true]);
    await desk.ok('answer_ask', { ask_id: ask.ask_id, decision: 'denied', reason: 'not today' });
    expect(await agent.ok('wait_for_ask', { ask_id: ask.ask_id })).toMatchObject({
      timed_out: false,
      ask: { status: 'resolved', verdict: { decision: 'denied', reason: 'not today' } },
    });
  });

  test('an agent that hangs up while it waits finds the answer later', async () => {
    const { agent, desk } = room(face);
    const { ask_id } = (await agent.ok('raise_ask', { prompt: 'May I?' })).ask;
    const gone = new AbortController();
    const waiting = agent.call('wait_for_ask', { ask_id, timeout_ms: 30_000 }, { signal: gone.signal });
    setTimeout(() => gone.abort(), 150);
    await expect(waiting).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 150));
    await desk.ok('answer_ask', { ask_id, decision: 'approved' });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect((await desk.ok('get_ask', { ask_id })).ask.status).toBe('answering');
    expect((await agent.ok('wait_for_ask', { ask_id })).ask).toMatchObject({ status: 'resolved' });
  });

  test('nobody answers in time: denied, for everybody at once, and on record', async () => {
    const { agent, desk, watcher } = room(face);
    const { ask } = await agent.ok('raise_ask', { prompt: 'May I?', expires_in_ms: 1_000 });
    const { ask_id, thread_id } = ask;
    const verdict = {
      decision: 'denied',
      by: 'parley',
      device: 'hub',
      at: ask.expires_at,
      reason: 'nobody answered in time',
    };
    const waited = await agent.ok('wait_for_ask', { ask_id, timeout_ms: 20_000 });
    expect(waited).toEqual({
      timed_out: false,
      ask: { ...ask, status: 'resolved', verdict, resolved_at: ask.expires_at },
    });
    const late = await desk.refused('answer_ask', { ask_id, decision: 'approved' }, 'CONFLICT');
    expect(standing(late)).toEqual(waited.ask);
    expect((await watcher.ok('get_ask', { ask_id })).ask).toEqual(waited.ask);
    const { messages } = await agent.ok('read_messages', { thread_id });
    expect(messages.at(-1)).toMatchObject({
      sender_agent_id: 'parley',
      metadata: { status: 'resolved', verdict },
    });
    expect(messages.at(-1)?.human).toBeUndefined();
  });

  test('an agent withdraws what it no longer needs, once', async () => {
    const { agent, desk } = room(face);
    const { ask_id } = (await agent.ok('raise_ask', { prompt: 'May I?' })).ask;
    const { ask } = await agent.ok('withdraw_ask', { ask_id, reason: 'found another way' });
    expect(ask).toMatchObject({
      status: 'resolved',
      verdict: { decision: 'withdrawn', by: 'builder', reason: 'found another way' },
    });
    expect((await agent.ok('withdraw_ask', { ask_id, reason: 'again' })).ask).toEqual(ask);
    expect(standing(await desk.refused('answer_ask', { ask_id, decision: 'approved' }, 'CONFLICT'))).toEqual(
      ask,
    );
  });

  test('who may do what', async () => {
    const { agent, desk, boss, watcher, stranger, foreigner } = room(face);
    const { ask_id } = (await agent.ok('raise_ask', { prompt: 'May I?' })).ask;
    const answer = { ask_id, decision: 'approved' };
    await scene.unchanged(async () => {
      await watcher.refused('raise_ask', { prompt: 'May I?' }, 'FORBIDDEN');
      await watcher.refused('ask_human', { prompt: 'May I?', timeout_ms: 0 }, 'FORBIDDEN');
      await watcher.refused('answer_ask', answer, 'FORBIDDEN');
      await boss.refused('answer_ask', answer, 'INSUFFICIENT_AUTHORITY');
      await agent.refused('answer_ask', answer, 'INSUFFICIENT_AUTHORITY');
      await boss.refused('withdraw_ask', { ask_id }, 'FORBIDDEN');
      for (const one of [stranger, foreigner])
        for (const [name, input] of [
          ['get_ask', { ask_id }],
          ['wait_for_ask', { ask_id, timeout_ms: 0 }],
          ['answer_ask', answer],
          ['withdraw_ask', { ask_id }],
        ] as const)
          await one.refused(name, input, 'NOT_FOUND');
      expect((await stranger.ok('list_asks', { status: 'all' })).asks).toEqual([]);
      expect((await stranger.ok('list_asks', { of_agent: 'builder' })).asks).toEqual([]);
      expect((await foreigner.ok('list_asks', { status: 'all' })).asks).toEqual([]);
    });
    expect((await boss.ok('list_asks', { of_agent: 'builder' })).asks).toHaveLength(1);
    await desk.ok('answer_ask', answer as { ask_id: string; decision: 'approved' });
  });

  test('what makes no sense is refused with its field', async () => {
    const { agent, desk } = room(face);
    const { ask_id } = (await agent.ok('raise_ask', push)).ask;
    const twice = [push.options[0], push.options[0]];
    await scene.unchanged(async () => {
      for (const [name, input, field] of [
        ['raise_ask', { prompt: '' }, 'prompt'],
        ['raise_ask', { prompt: 'x', options: twice }, 'options'],
        ['raise_ask', { prompt: 'x', expires_in_ms: 999 }, 'expires_in_ms'],
        ['raise_ask', { prompt: 'x', risk: 'none' }, 'risk'],
        ['ask_human', { prompt: 'x', options: [{ id: 'a' }, { id: 'a' }], timeout_ms: 0 }, 'options'],
      ] as const)
        expect((await agent.refused(name, input, 'VALIDATION_ERROR')).details['field']).toBe(field);
      for (const [input, field] of [
        [{ decision: 'maybe' }, 'decision'],
        [{ decision: 'answered' }, 'decision'],
        [{ decision: 'approved', option: 'no' }, 'decision'],
        [{ decision: 'denied', option: 'once' }, 'decision'],
        [{ decision: 'approved', option: 'always' }, 'option'],
      ] as const) {
        const error = await desk.refused('answer_ask', { ask_id, ...input }, 'VALIDATION_ERROR');
        expect(error.details['field']).toBe(field);
      }
    });
  });

  test('a retry raises once; equal words without a key are another ask', async () => {
    const { agent, desk } = room(face);
    const thread_id = await agent.thread();
    const first = await agent.ok('raise_ask', { prompt: 'May I?', idempotency_key: 'k' });
    expect(await agent.ok('raise_ask', { prompt: 'May I?', idempotency_key: 'k' })).toEqual(first);
    for (const change of [{ prompt: 'May I not?' }, { prompt: 'May I?', expires_in_ms: 5_000 }])
      await agent.refused('raise_ask', { ...change, idempotency_key: 'k' }, 'IDEMPOTENCY_CONFLICT');
    const elsewhere = await agent.ok('raise_ask', { prompt: 'May I?', idempotency_key: 'k', thread_id });
    const again = await agent.ok('raise_ask', { prompt: 'May I?' });
    const ids = [again, elsewhere, first].map(({ ask }) => ask.ask_id);
    expect(new Set(ids).size).toBe(3);
    const listed = (await desk.ok('list_asks', {})).asks.map(({ ask_id }) => ask_id);
    expect(listed.toSorted()).toEqual(ids.toSorted());
    expect(elsewhere.ask.thread_id).toBe(thread_id);
  });
});

test('two devices that answer at once: one verdict, and both are told it', async () => {
  const { agent, desk, tablet } = room();
  for (let i = 0; i < 20; i++) {
    const { ask_id } = (await agent.ok('raise_ask', { prompt: `May I ${i}?` })).ask;
    const waiting = agent.ok('wait_for_ask', { ask_id });
    const [a, b] = await Promise.all([
      desk.call('answer_ask', { ask_id, decision: 'approved' }),
      tablet.call('answer_ask', { ask_id, decision: 'denied' }),
    ]);
    expect(new Set([a.status, b.status])).toEqual(new Set([200, 409]));
    const reported = [a, b].map(({ result, error }) => (result?.ask ?? standing(error ?? {})).verdict);
    expect(reported[0]).toEqual(reported[1]);
    expect((await waiting).ask.verdict).toEqual(reported[0]);
  }
  const verdicts = (await storedMessages(scene.hub.data)).filter(
    (message) => message.metadata?.['event_type'] === 'ask_answered' && message.sender_agent_id === 'ann',
  );
  expect(verdicts.length).toBeGreaterThanOrEqual(20);
});

test('asks in a thread: participants alone, not in a closed one, nor of one who may not speak there', async () => {
  const { agent, boss, stranger } = room();
  const thread_id = await boss.thread('builder');
  await stranger.refused('raise_ask', { thread_id, prompt: 'May I?' }, 'FORBIDDEN');
  const { ask } = await agent.ok('raise_ask', { thread_id, prompt: 'May I?' });
  expect(ask.thread_id).toBe(thread_id);
  await boss.ok('control_thread', { thread_id, control: { pause: { on: true } } });
  const { message } = await agent.refused('raise_ask', { thread_id, prompt: 'May I?' }, 'FORBIDDEN');
  expect(message).toContain('leave thread_id out');
  expect((await agent.ok('raise_ask', { prompt: 'May I?' })).ask.status).toBe('open');
  await boss.ok('update_thread_status', { thread_id, status: 'closed', reason: 'over' });
  await agent.refused('raise_ask', { thread_id, prompt: 'May I?' }, 'CONFLICT');
  // What was asked before can still be settled.
  await agent.ok('withdraw_ask', { ask_id: ask.ask_id });
});

test('[R10] an agent has a bounded number of open asks', async () => {
  const { agent, desk } = room();
  const raised: OutputOf<'raise_ask'>[] = [];
  for (let i = 0; i < 200; i++) raised.push(await agent.ok('raise_ask', { prompt: `May I ${i}?` }));
  const error = await agent.refused('raise_ask', { prompt: 'One more?' }, 'RATE_LIMITED');
  expect(error.details['retry_after_ms']).toBeGreaterThan(0);
  const ask_id = raised[7]?.ask.ask_id ?? '';
  await desk.ok('answer_ask', { ask_id, decision: 'denied' });
  await agent.ok('raise_ask', { prompt: 'One more?' });
});
