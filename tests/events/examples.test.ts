import { expect, test } from 'vitest';

import { useHub } from '../harness/use-hub.ts';
import { type Event, postEvent, readEvents } from './events-driver.ts';

const scene = useHub();

/** The control shapes of the specification, word for word; `participant-id` takes part. */
const CONTROLS = [
  '{"mute": {"targets": ["participant-id"], "mode": "hard"}}',
  '{"unmute": {"targets": ["participant-id"]}}',
  '{"pause": {"on": true}}',
  '{"pause": {"on": false}}',
  '{"prod": ["participant-id"]}',
  '{"done": true}',
  '{"ttl_seconds": 600}',
  '{"discussion": {"on": true, "allow_agent_mentions": true}}',
  '{"invited_auto": {"on": true}}',
  '{"invite": {"participant_id": "participant-id", "profile": {"client": "codex", "model": "gpt-5.2-codex", "roles": ["planner"], "nickname": "optional"}}}',
] as const;

const PRESENCES = ['listening', 'thinking', 'typing', 'idle', 'offline'] as const;

async function posted(token: string, thread: string, text: string): Promise<Event> {
  const { status, text: answer } = await postEvent(scene.hub.url, token, thread, text);
  expect([status, answer]).toEqual([200, answer]);
  return (JSON.parse(answer) as { event: Event }).event;
}

/** What only the hub can say of an event: its id and time (an id of the client is its key, C-BRIDGE-08), whom it calls. */
const given = ({ id, ts, meta: { seq, called, not_called } }: Event) => ({
  id,
  ts,
  meta: {
    seq,
    ...(called === undefined ? {} : { called }),
    ...(not_called === undefined ? {} : { not_called }),
  },
});

test('[BRIDGE-1] [BRIDGE-5] the envelope of the specification: sent with every field, answered and read with every field', async () => {
  const user = scene.as('user', { role: 'operator' });
  const thread = await user.thread('participant-id');
  const first = await posted(user.token, thread, '{"type": "message", "content": "string or object"}');
  expect(first).toEqual({
    ...given(first),
    thread,
    type: 'message',
    from: 'user',
    to: 'all',
    content: 'string or object',
    meta: { seq: 1, kind: 'chat', human: true, called: ['participant-id'] },
  });
  for (const to of ['all', 'participant-id']) {
    const text = `{
  "id": "01JD00000000000000000000${to.length + 10}",
  "ts": "2026-02-11T10:30:00Z",
  "thread": "${thread}",
  "type": "message",
  "from": "user",
  "to": "${to}",
  "content": "string or object",
  "meta": {
    "reply_to": "${first.id}",
    "tags": []
  }
}`;
    const event = await posted(user.token, thread, text);
    const { id: _key, ts: _own, ...sent } = JSON.parse(text) as Event;
    const { id, ts, meta } = given(event);
    expect(event).toEqual({ ...sent, id, ts, meta: { ...meta, ...sent.meta, kind: 'chat', human: true } });
    expect(await posted(user.token, thread, text)).toEqual(event);
    const { events } = await readEvents(scene.hub.url, user.token, thread, `?since_seq=${meta.seq - 1}`);
    expect(events).toEqual([event]);
  }
});

test('[BRIDGE-6] every control shape of the specification comes back word for word', async () => {
  const user = scene.as('user', { role: 'operator' });
  const thread = await user.thread('participant-id');
  for (const control of CONTROLS) {
    const event = await posted(user.token, thread, `{"type": "control", "content": ${control}}`);
    expect(event).toEqual({
      ...given(event),
      thread,
      type: 'control',
      from: 'user',
      to: 'all',
      content: JSON.parse(control) as unknown,
      meta: { ...given(event).meta, kind: 'system', human: true },
    });
  }
  const { events } = await readEvents(scene.hub.url, user.token, thread, '?since_seq=0');
  expect(events.map(({ content }) => content)).toEqual(CONTROLS.map((text) => JSON.parse(text) as unknown));
  expect(await user.ok('get_thread', { thread_id: thread })).toMatchObject({
    done: true,
    discussion: { on: true, allow_agent_mentions: true },
    invited_auto: true,
    prodded: ['participant-id'],
    profiles: { 'participant-id': { client: 'codex', nickname: 'optional' } },
  });
});

test('[BRIDGE-6] [BRIDGE-1] a control may have no content, an addressee and meta', async () => {
  const user = scene.as('user', { role: 'operator' });
  const thread = await user.thread('participant-id');
  const bare = await posted(user.token, thread, '{"type": "control"}');
  expect(bare).not.toHaveProperty('content');
  const text = `{"type": "control", "to": "participant-id", "content": {"prod": ["participant-id"]},
    "meta": {"reply_to": "${bare.id}", "tags": ["a", "b"]}}`;
  expect(await posted(user.token, thread, text)).toMatchObject({
    to: 'participant-id',
    content: { prod: ['participant-id'] },
    meta: { reply_to: bare.id, tags: ['a', 'b'] },
  });
});

test('[BRIDGE-10] [BRIDGE-4] every presence of the specification, with a profile, an addressee and meta, or with nothing', async () => {
  const [user, agent] = [scene.as('user', { role: 'operator' }), scene.as('participant-id')];
  const thread = await user.thread('participant-id');
  const { message_id } = await user.say(thread, 'hello');
  const reply_to = message_id.replace('msg_', '');
  const details = { client: 'codex', model: 'gpt-5.2-codex', nickname: 'optional', roles: ['planner'] };
  const state = async () =>
    (await user.ok('list_presence', { thread_id: thread })).participants.find(
      ({ agent_id }) => agent_id === 'participant-id',
    )?.state;
  for (const name of PRESENCES) {
    const event = await posted(agent.token, thread, `{"type": "presence", "content": {"state": "${name}"}}`);
    expect(event).toEqual({
      ts: event.ts,
      thread,
      type: 'presence',
      from: 'participant-id',
      to: 'all',
      content: { state: name },
      meta: {},
    });
    expect(await state()).toBe(name);
  }
  const said = { to: 'user', content: { state: 'typing', details }, meta: { reply_to, tags: ['answer'] } };
  const event = await posted(agent.token, thread, JSON.stringify({ type: 'presence', ...said }));
  expect(event).toMatchObject(said);
  expect((await posted(agent.token, thread, '{"type": "presence"}')).content).toMatchObject({
    state: 'listening',
  });
  expect(await state()).toBe('listening');
  // Kept transitions have the names of the specification.
  for (const [name, transition] of [
    ['thinking', 'thinking.start'],
    ['listening', 'thinking.end'],
  ] as const) {
    const kept = { ...said, content: { state: name, persist: true } };
    expect(await posted(agent.token, thread, JSON.stringify({ type: 'presence', ...kept }))).toMatchObject({
      to: 'user',
      content: { state: name, transition },
      meta: { reply_to, tags: ['answer'] },
    });
  }
});

test('[BRIDGE-11] [BRIDGE-15] a task and its result, in words and as data; the life of a thread in its log', async () => {
  const [user, agent] = [scene.as('user', { role: 'operator' }), scene.as('participant-id')];
  const thread = await user.thread('participant-id');
  await user.ok('rename_thread', { thread_id: thread, title: 'renamed' });
  const task = await posted(
    user.token,
    thread,
    '{"type": "task", "to": "participant-id", "content": "string"}',
  );
  expect(task).toMatchObject({ type: 'task', to: 'participant-id', content: 'string' });
  for (const [meta, content] of [
    [{ reply_to: task.id }, 'string'],
    [{ task_id: task.id }, { done: true, files: ['summary.md'] }],
  ] as const) {
    const result = { type: 'result', to: 'user', content, meta };
    const event = await posted(agent.token, thread, JSON.stringify(result));
    // Which task it answers is told in one word, however it was said.
    expect(event).toMatchObject({ type: 'result', to: 'user', content, meta: { reply_to: task.id } });
  }
  const { events } = await readEvents(scene.hub.url, user.token, thread);
  expect(
    events.map(({ type, content }) => (type === 'control' ? Object.keys(content as object) : type)),
  ).toEqual([['thread.created'], ['thread.renamed'], 'task', 'result', 'result']);
});
