import { expect, test } from 'vitest';

import { type Participant, useHub } from '../harness/use-hub.ts';
import { dial } from '../ws/live-client.ts';
import { openFrames, presences } from './stream-reader.ts';

const scene = useHub();
const patience = { timeout: 60_000 };

const stateOf = async (who: Participant, thread_id: string, agent: string): Promise<string | undefined> =>
  (await who.ok('list_presence', { thread_id })).participants.find(({ agent_id }) => agent_id === agent)
    ?.state;

test('[BRIDGE-10] an open stream of a thread is not offline, and others hear of it come and go', async () => {
  const [alice, bob] = [scene.as('alice'), scene.as('bob')];
  const thread_id = await alice.thread('bob');
  const path = `${scene.hub.url}/v1/threads/${thread_id}/stream`;
  const watching = await openFrames(path, alice.token);
  expect(await stateOf(alice, thread_id, 'bob')).toBe('offline');
  const [first, second] = [await openFrames(path, bob.token), await openFrames(path, bob.token)];
  await expect.poll(() => stateOf(alice, thread_id, 'bob'), patience).toBe('listening');
  await expect.poll(() => presences(watching).at(-1), patience).toEqual(['bob', 'listening']);
  // What it says of itself stands above; once that has faded it listens again.
  await bob.ok('set_presence', { thread_id, state: 'typing', ttl_ms: 1_000 });
  expect(await stateOf(alice, thread_id, 'bob')).toBe('typing');
  await expect
    .poll(() => presences(watching).slice(-2), patience)
    .toEqual([
      ['bob', 'typing'],
      ['bob', 'listening'],
    ]);
  await bob.ok('set_presence', { thread_id, state: 'offline' });
  expect(await stateOf(alice, thread_id, 'bob')).toBe('listening');
  first.close();
  await first.ended;
  expect(await stateOf(alice, thread_id, 'bob')).toBe('listening');
  second.close();
  await expect.poll(() => stateOf(alice, thread_id, 'bob'), patience).toBe('offline');
  await expect.poll(() => presences(watching).at(-1), patience).toEqual(['bob', 'offline']);
});

test('[BRIDGE-10] whoever is connected by /ws, or follows the workspace, listens in all its threads', async () => {
  const [alice, bob, carol] = [scene.as('alice'), scene.as('bob'), scene.as('carol')];
  const thread_id = await alice.thread('bob', 'carol', 'dave');
  const [socket, stream] = [
    await dial(scene.hub.url, 'bob', bob.token),
    await openFrames(`${scene.hub.url}/v1/stream`, carol.token),
  ];
  const states = () => Promise.all(['bob', 'carol', 'dave'].map((name) => stateOf(alice, thread_id, name)));
  await expect.poll(states, patience).toEqual(['listening', 'listening', 'offline']);
  await socket.close();
  stream.close();
  await expect.poll(states, patience).toEqual(['offline', 'offline', 'offline']);
});
