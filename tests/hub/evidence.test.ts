import { expect, test } from 'vitest';

import { faces, v1Driver } from '../harness/call.ts';
import { openListen, openPush } from '../harness/mcp-stream.ts';
import { openLegacy } from '../harness/mcp-wire.ts';
import { openStream } from '../harness/open-stream.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { registerSigner } from '../harness/tokens.ts';
import { succeeded, useHub } from '../harness/use-hub.ts';

const scene = useHub();

const ways = (offered: readonly { agent_id: string; how: string }[]): string[] =>
  offered.map(({ agent_id, how }) => `${agent_id} ${how}`).toSorted();

test.each(faces)('what became of a message, told over $name', async (face) => {
  const workspace = `evidence-${face.name.replaceAll(/\W/g, '')}`;
  const who = (name: string) => scene.as(name, { workspace, face });
  const [alice, bob, carol, dave] = [who('alice'), who('bob'), who('carol'), who('dave')];
  const thread_id = await alice.thread('bob', 'carol', 'dave');
  const waiting = carol.ok('wait_for_messages', { thread_id, since_seq: 0 });
  const { message_id, seq, created_at } = await alice.say(thread_id, '@bob please look');
  await waiting;
  const evidence = () => dave.ok('get_message_evidence', { thread_id, message_id });
  expect(await evidence()).toMatchObject({
    accepted: { at: created_at, by: 'alice', session: 'alice-1' },
    durable: { seq },
    offered: [{ agent_id: 'carol', how: 'wait' }],
    read: [],
    unread: ['bob', 'carol', 'dave'],
    acted: [],
  });
  await bob.ok('read_messages', { thread_id });
  await bob.ok('ack_read', { thread_id, last_read_seq: seq });
  await bob.say(thread_id, 'looked', { in_reply_to: message_id });
  const fix = { event_type: 'fix_pushed', task_id: 'T', commit: 'abc1234' };
  await bob.say(thread_id, 'fixed', { in_reply_to: message_id, kind: 'event', metadata: fix });
  const reported = await evidence();
  expect(ways(reported.offered)).toEqual(['bob read', 'carol wait']);
  expect(reported).toMatchObject({
    read: [{ agent_id: 'bob' }],
    unread: ['carol', 'dave'],
    acted: [
      { agent_id: 'bob', what: 'reply', seq: 2 },
      { agent_id: 'bob', what: 'fix_pushed', commit: 'abc1234', seq: 3 },
    ],
  });
  // What was not handed out is not claimed, though something later was.
  await dave.ok('read_messages', { thread_id, since_seq: 2 });
  expect(ways((await evidence()).offered)).toEqual(['bob read', 'carol wait']);
  const stranger = scene.as('stranger', { workspace, face });
  await stranger.refused('get_message_evidence', { thread_id, message_id }, 'FORBIDDEN');
});

test('streams and notices are ways too, and all of it survives a stop and a start', async () => {
  const data = freshFolder();
  let hub = await startHub({ data });
  const signer = await registerSigner('k', { data });
  const token = (agent: string): string => signer.token({ agent });
  const call = async (
    agent: string,
    name: 'create_thread' | 'post_message' | 'get_message_evidence',
    input: object,
  ) => succeeded(await v1Driver.call(hub.url, token(agent), name, input)) as Record<string, unknown>;
  const { thread_id } = await call('alice', 'create_thread', {
    title: 't',
    participants: ['bob', 'carol', 'dave'],
  });
  const uri = `parley://threads/${String(thread_id)}`;
  const stream = await openStream(hub.url, token('bob'), String(thread_id));
  const carol = token('carol');
  const session = await openLegacy(hub.url, carol);
  const pushed = await openPush(hub.url, carol, session.id);
  const dave = await openListen(hub.url, token('dave'), { resourceSubscriptions: [uri] });
  await session.request('resources/subscribe', { uri });
  const post = (body: string) => call('alice', 'post_message', { thread_id, schema_version: 1, body });
  const { message_id } = await post('one');
  await post('two');
  await expect.poll(() => stream.messages().length).toBe(2);
  const offered = async () => {
    const reported = await call('alice', 'get_message_evidence', { thread_id, message_id });
    return ways(reported['offered'] as { agent_id: string; how: string }[]);
  };
  await expect.poll(offered).toEqual(['bob sse', 'carol mcp', 'dave mcp']);
  stream.close();
  pushed.close();
  dave.close();
  expect(await hub.stop()).toBe(0);
  hub = await startHub({ data });
  expect(await offered()).toEqual(['bob sse', 'carol mcp', 'dave mcp']);
  await hub.stop();
});
