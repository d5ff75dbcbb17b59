import { setTimeout as sleep } from 'node:timers/promises';

import type { AgentView } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { onPostgres } from '../harness/store-profile.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';

/** Three nodes on a busy machine take their time to answer. */
const PATIENCE = onPostgres ? 3 : 1;
const STUCK_MS = 1_000 * PATIENCE;
const OFFLINE_MS = 2_500 * PATIENCE;
const scene = useHub({
  settings: {
    'sessions.stuck_after_ms': STUCK_MS,
    'sessions.offline_after_ms': OFFLINE_MS,
    'sessions.unread_stuck_ms': 1_000,
    'presence.ttl_ms': 1_000,
  },
});
let rooms = 0;

describe.each(faces)('agents over $name', (face) => {
  function room() {
    const workspace = `agents-${++rooms}`;
    const who = (name: string, role = 'worker') => scene.as(name, { workspace, role, face });
    return {
      workspace,
      agent: who('builder'),
      person: who('ann', 'operator'),
      watcher: who('eve', 'observer'),
    };
  }
  /** How the agent stands; the list and the single look must say the same, unless its time was up between them. */
  async function view(asker: Participant, of_agent = 'builder'): Promise<AgentView> {
    const look = async (): Promise<AgentView> => {
      const { journal_thread_id: _journal, ...one } = await asker.ok('get_agent', { of_agent });
      return one;
    };
    for (let before = await look(); ;) {
      const { agents } = await asker.ok('list_agents', {});
      const after = await look();
      const [listed, ...more] = agents.filter(({ agent_id }) => agent_id === of_agent);
      expect(more).toEqual([]);
      if (before.state === after.state) {
        expect({ ...listed, reason: '' }).toEqual({ ...after, reason: '' });
        return after;
      }
      before = after;
    }
  }

  test('heartbeat, registration and presence are one agent, listed once', async () => {
    const { agent, person, watcher } = room();
    await agent.ok('heartbeat_session', { runtime: 'codex_cli', status: 'idle' });
    expect(await view(person)).toMatchObject({
      name: 'builder',
      sessions: 1,
      runtimes: ['codex_cli'],
      state: 'idle',
    });
    const registration = {
      name: 'The builder',
      type: 'sisyphus' as const,
      capabilities: ['run_task'],
      endpoint: 'wss://agents.example/b',
      metadata: { version: '1' },
    };
    const first = await agent.ok('register_agent', registration);
    expect(first).toMatchObject({ agent_id: 'builder', changed: true });
    expect(await agent.ok('register_agent', registration)).toMatchObject({ changed: false });
    const thread_id = await agent.thread();
    await agent.ok('set_presence', { thread_id, state: 'listening' });
    for (const one of [person, watcher, agent])
      expect(await view(one)).toMatchObject({
        name: 'The builder',
        type: 'sisyphus',
        capabilities: ['run_task'],
        endpoint: 'wss://agents.example/b',
        // Who may not read the thread does not hear who is in it.
        presence: one === watcher ? [] : [{ thread_id, state: 'listening' }],
        sessions: 1,
        status: 'online',
        state: 'idle',
        open_asks: 0,
      });
    const { journal_thread_id } = await person.ok('get_agent', { of_agent: 'builder' });
    const { messages } = await person.ok('read_messages', { thread_id: journal_thread_id ?? '' });
    expect(messages.map(({ body }) => body)).toEqual(['The builder registered as sisyphus']);
    const { agents } = await person.ok('list_agents', { state: 'stuck' });
    expect(agents).toEqual([]);
    await person.refused('get_agent', { of_agent: 'build' }, 'NOT_FOUND');
    for (const endpoint of ['ftp://x', 'wss://a:b@x/', 'x'])
      await agent.refused('register_agent', { ...registration, endpoint }, 'VALIDATION_ERROR');
  });

  test('from working over stuck to offline and back, each with its reason', async () => {
    const { agent, person } = room();
    const beat = (status: 'active' | 'idle' | 'offline') =>
      agent.ok('heartbeat_session', { runtime: 'codex_cli', status });
    const { recorded_at } = await beat('active');
    const since = recorded_at;
    expect(await view(person)).toMatchObject({
      state: 'working',
      reason: 'codex_cli session is active',
      since,
    });
    await sleep(50);
    const { recorded_at: second } = await beat('active');
    expect(await view(person)).toMatchObject({ state: 'working', since, last_seen: second });
    await sleep(STUCK_MS + 50);
    const stuck = await view(person);
    expect(stuck).toMatchObject({ state: 'stuck', since: second, status: 'online' });
    expect(stuck.reason).toMatch(/^silent for \d+ s in the middle of work$/);
    await sleep(OFFLINE_MS - STUCK_MS);
    const silent = 'silent; no connection and no heartbeat';
    expect(await view(person)).toMatchObject({
      state: 'offline',
      status: 'offline',
      reason: silent,
      since: second,
    });
    await beat('idle');
    expect(await view(person)).toMatchObject({ state: 'idle', reason: 'nothing to do' });
    await beat('offline');
    expect(await view(person)).toMatchObject({ state: 'offline', reason: 'process gone' });
  });

  test('needs you, error, rate-limited, working: what it reports and what it asks', async () => {
    const { agent, person } = room();
    const report = (status: 'online' | 'busy' | 'error' | 'offline', metadata?: Record<string, unknown>) =>
      agent.ok('update_agent_status', { status, ...(metadata === undefined ? {} : { metadata }) });
    const state = async () => {
      const { state: word, reason } = await view(person);
      return [word, reason];
    };
    await report('busy', { currentTask: 'review TASK-1', version: '1.2' });
    expect(await state()).toEqual(['working', 'review TASK-1']);
    const until = new Date(Date.now() + 60_000).toISOString();
    await report('busy', { rateLimitedUntil: until });
    expect(await state()).toEqual(['stuck', `rate-limited until ${until}`]);
    await report('busy', { waiting: 'prompt', version: '1.2' });
    expect(await state()).toEqual(['needs_you', 'waiting at a prompt']);
    // A report without details ends what the last one said for its moment, and no more.
    await report('online');
    expect(await state()).toEqual(['idle', 'nothing to do']);
    expect((await view(person)).metadata).toEqual({ version: '1.2' });
    await agent.ok('report_event', { event_type: 'task_failed', data: { message: 'npm test failed' } });
    expect(await state()).toEqual(['error', 'npm test failed']);
    await report('online');
    expect(await state()).toEqual(['error', 'npm test failed']);
    const { failure } = await view(person);
    await person.ok('dismiss_error', { of_agent: 'builder', failed_at: failure?.at ?? '' });
    expect(await state()).toEqual(['idle', 'nothing to do']);
    await report('error', { error: 'no space left' });
    expect(await state()).toEqual(['error', 'no space left']);
    const { ask } = await agent.ok('raise_ask', { prompt: 'May I clean up?', command: 'rm -r build' });
    expect(await view(person)).toMatchObject({
      state: 'needs_you',
      reason: 'asks to run: rm -r build',
      since: ask.created_at,
      open_asks: 1,
    });
    expect((await person.ok('list_agents', { state: 'needs_you' })).agents).toHaveLength(1);
    await person.ok('answer_ask', { ask_id: ask.ask_id, decision: 'denied' });
    expect(await state()).toEqual(['error', 'no space left']);
    await report('offline');
    expect(await view(person)).toMatchObject({
      state: 'error',
      reason: 'no space left',
      status: 'offline',
      meanwhile: { state: 'offline', reason: 'process gone' },
    });
    const { failure: last } = await view(person);
    await person.ok('dismiss_error', { of_agent: 'builder', failed_at: last?.at ?? '' });
    expect(await state()).toEqual(['offline', 'process gone']);
    await agent.refused(
      'update_agent_status',
      { status: 'online', metadata: { healthScore: 101 } },
      'VALIDATION_ERROR',
    );
  });

  test('an error stays until an operator dismisses that very one, whatever the agent says since then', async () => {
    const { agent, person, watcher } = room();
    const thread_id = await agent.thread('ann');
    const fail = (message: string) =>
      agent.ok('report_event', { event_type: 'task_failed', thread_id, data: { message } });
    const dismiss = (failed_at: string) => ({ of_agent: 'builder', failed_at });
    await person.refused('dismiss_error', dismiss(new Date().toISOString()), 'NOT_FOUND');
    const { created_at: first } = await fail('npm test failed');
    expect(await view(person)).toMatchObject({
      state: 'error',
      failure: { at: first, text: 'npm test failed', thread_id },
    });
    // What was said in a thread is for those who may read it.
    const seen = await view(watcher);
    expect([seen.state, JSON.stringify(seen).includes('npm test'), seen.failure?.thread_id]).toEqual([
      'error',
      false,
      undefined,
    ]);
    await agent.ok('update_agent_status', { status: 'busy', metadata: { currentTask: 'TASK-2' } });
    expect(await view(person)).toMatchObject({
      state: 'error',
      since: first,
      status: 'busy',
      meanwhile: { state: 'working', reason: 'TASK-2' },
    });
    const { created_at: second } = await fail('no space left');
    await person.refused('dismiss_error', dismiss(first), 'CONFLICT');
    await agent.refused('dismiss_error', dismiss(second), 'INSUFFICIENT_AUTHORITY');
    await watcher.refused('dismiss_error', dismiss(second), 'FORBIDDEN');
    expect(await view(person)).toMatchObject({ state: 'error', reason: 'no space left' });
    const done = await person.ok('dismiss_error', dismiss(second));
    expect(done).toMatchObject({ agent_id: 'builder', failed_at: second, dismissed_by: 'ann' });
    // Twice is once: the journal tells it in one entry.
    expect(await person.ok('dismiss_error', dismiss(second))).toEqual(done);
    const after = await view(person);
    expect([after.state, after.reason, after.failure, after.meanwhile]).toEqual([
      'working',
      'TASK-2',
      undefined,
      undefined,
    ]);
    const { journal_thread_id } = await person.ok('get_agent', { of_agent: 'builder' });
    const { messages } = await person.ok('read_messages', { thread_id: journal_thread_id ?? '' });
    expect(messages.map(({ sender_agent_id, body }) => [sender_agent_id, body])).toEqual([
      ['ann', `the error of ${second} was dismissed`],
    ]);
  });

  test('one that lets messages lie is stuck; one that fetches them is not, nor one that talks to itself', async () => {
    const { agent, person, workspace } = room();
    const reader = scene.as('reader', { workspace, face });
    const talker = scene.as('talker', { workspace, face });
    const thread_id = await person.thread('builder', 'reader');
    const alone = await talker.thread();
    const beat = () =>
      Promise.all(
        [agent, reader, talker].map((one) => one.ok('heartbeat_session', { runtime: 'x', status: 'idle' })),
      );
    // At rest before the mail comes: unread mail counts only against who is free to read it.
    await beat();
    await talker.say(alone, 'note to self');
    await person.say(thread_id, 'are you there?');
    const posted = Date.now();
    await reader.ok('read_messages', { thread_id });
    await sleep(1_100);
    await person.say(thread_id, 'hello?');
    await beat();
    const stuck = await view(person);
    expect(stuck).toMatchObject({ state: 'stuck', unread: 2 });
    expect(stuck.reason).toMatch(/^has had unread messages for \d+ s and does not read$/);
    expect(Math.abs(Date.parse(stuck.since) - posted)).toBeLessThan(1_000);
    expect(await view(person, 'reader')).toMatchObject({ state: 'idle' });
    expect(await view(person, 'talker')).toMatchObject({ state: 'idle' });
    await agent.ok('ack_read', { thread_id, last_read_seq: 2 });
    expect(await view(person)).toMatchObject({ state: 'idle', unread: 0 });
  });
});

test('agents of one workspace are unknown in another', async () => {
  const agent = scene.as('builder', { workspace: 'here' });
  await agent.ok('register_agent', { name: 'Here' });
  const there = scene.as('ann', { workspace: 'there', role: 'operator' });
  expect((await there.ok('list_agents', {})).agents).toEqual([]);
  await there.refused('get_agent', { of_agent: 'builder' }, 'NOT_FOUND');
});
