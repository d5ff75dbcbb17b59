import type { OutputOf } from '@parley/protocol';
import { expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();
const NAMES = ['ada', 'bea', 'cleo', 'dora', 'eve', 'fay', 'gil'];

test.each(faces)('[R10] agents and sessions come in pages over $name, each once', async (face) => {
  const workspace = `lists-${face.name.replaceAll(/\W/g, '')}`;
  const as = (name: string) => scene.as(name, { face, workspace });
  for (const name of NAMES) await as(name).ok('heartbeat_session', { runtime: 'codex_cli', status: 'idle' });
  const reader = as('ada');
  const agents: string[] = [];
  const sizes: number[] = [];
  let after: string | undefined;
  do {
    const place = after === undefined ? {} : { after };
    const page: OutputOf<'list_agents'> = await reader.ok('list_agents', { limit: 3, ...place });
    agents.push(...page.agents.map(({ agent_id }) => agent_id));
    sizes.push(page.agents.length);
    after = page.next_after ?? undefined;
  } while (after !== undefined);
  expect(agents).toEqual(NAMES);
  expect(sizes).toEqual([3, 3, 1]);
  const first = await reader.ok('list_sessions', { limit: 5 });
  expect(first.sessions.map(({ agent_id }) => agent_id)).toEqual(NAMES.slice(0, 5));
  const rest = await reader.ok('list_sessions', { limit: 5, after: first.next_after ?? '' });
  expect(rest.sessions.map(({ agent_id }) => agent_id)).toEqual(NAMES.slice(5));
  expect(rest.next_after).toBeNull();
  const whole = await reader.ok('list_agents', {});
  expect([whole.agents.length, whole.next_after]).toEqual([NAMES.length, null]);
  const offline = await reader.ok('list_agents', { state: 'offline', limit: 2 });
  expect(offline).toEqual({ agents: [], next_after: null });
});

test('[HUB-E4] what an agent has not read is told as it stands after every post, acknowledgement and farewell', async () => {
  const workspace = 'lists-unread';
  const [ann, bob] = [scene.as('ann', { workspace }), scene.as('bob', { workspace })];
  await bob.ok('heartbeat_session', { runtime: 'codex_cli', status: 'idle' });
  const unread = async (): Promise<number> => (await ann.ok('get_agent', { of_agent: 'bob' })).unread;
  const { thread_id } = await ann.ok('create_thread', { title: 'one', participants: ['bob'] });
  const post = (who: typeof ann) => who.ok('post_message', { schema_version: 1, thread_id, body: 'x' });
  expect(await unread()).toBe(0);
  await post(ann);
  expect(await unread()).toBe(1);
  await post(bob);
  await post(ann);
  expect(await unread()).toBe(2);
  await bob.ok('ack_read', { thread_id, last_read_seq: 1 });
  expect(await unread()).toBe(1);
  await bob.ok('ack_read', { thread_id, last_read_seq: 3 });
  expect(await unread()).toBe(0);
  await post(ann);
  expect(await unread()).toBe(1);
  await bob.ok('control_thread', { thread_id, control: { leave: true } });
  expect(await unread()).toBe(0);
});
