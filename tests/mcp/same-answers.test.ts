import { CALL_FACTS, CONTRACTS, type ErrorCode, type OperationName } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { faces, v1Driver } from '../harness/call.ts';
import type { FaceDriver } from '../harness/face-driver.ts';
import { everyEntry, REFUSED } from '../harness/every-call.ts';
import { toldToAll } from '../harness/told-to-all.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';

const scene = useHub({
  settings: {
    'quota.messages_per_minute': 60,
    'quota.messages_burst': 200,
    'knowledge.agents_create_under': '["root"]',
  },
  keysMayRepeat: false,
});
const others = faces.filter((face) => face !== v1Driver);

/** The same person over another face. */
const over = (who: Participant, face: FaceDriver): Participant => scene.with(who.agent_id, who.token, face);

/** An answer without what each call moves: when a presence fades, how long a search took, what an import found to do. */
function lasting(result: Record<string, unknown> | undefined): unknown {
  if (result === undefined) return undefined;
  const { expires_at: _expires, usage, results, hub, ...rest } = result;
  // Whoever asks who they are is told the time as well.
  if (hub !== undefined) return { ...rest, hub: { ...(hub as Record<string, unknown>), now: '' } };
  if (results !== undefined)
    return (results as Record<string, unknown>[]).map(({ outcome: _outcome, ...one }) => one);
  if (usage === undefined) return rest;
  const { latency_ms: _latency, ...used } = usage as Record<string, unknown>;
  // Vectors that are still being made for the one may be there for the other.
  const { missing: _missing, partial: _partial, ...found } = rest;
  return { ...found, usage: used };
}

/** What asks for something that is good once, such as a challenge, takes no key. */
const isKeyed = (operation: OperationName): boolean => CALL_FACTS[operation].startsWith('keyed');

describe.each(others)('$name answers as /v1 does', (face) => {
  test('[HUB-M1] [HUB-M2] [HUB-M3] [HUB-M4] [HUB-M5] [HUB-M6] [HUB-M7] [HUB-M8] [HUB-M10] every operation', async () => {
    const alice = scene.as('alice');
    const thread_id = await alice.thread('bob');
    const { message_id } = await alice.say(thread_id, 'one finding', { kind: 'chat', metadata: { a: [1] } });
    const entries = everyEntry(thread_id, message_id);
    expect(entries).toHaveLength(Object.keys(CONTRACTS).length);
    for (const [operation, input] of entries) {
      // A write sent with the same key on both is one write: both must give the very same answer.
      const key = `${face.name} ${operation} ${thread_id}`;
      const keyed = isKeyed(operation) ? { ...input, idempotency_key: key } : input;
      const refusal = REFUSED[operation];
      const first = await alice.call(operation, keyed);
      const second = await over(alice, face).call(operation, keyed);
      expect([operation, first.error?.code, second.error?.code]).toEqual([operation, refusal, refusal]);
      expect({ operation, result: lasting(second.result) }).toEqual({
        operation,
        result: lasting(first.result),
      });
    }
  });

  test('[HUB-M9] [HUB-R4] [HUB-A4] [HUB-A5] [HUB-A6] [HUB-W4] [HUB-W6] every error: code, sentence and details', async () => {
    const alice = scene.as('alice');
    const thread_id = await alice.thread('bob');
    const { message_id } = await alice.say(thread_id, 'taken', { idempotency_key: 'taken' });
    await alice.ok('ack_read', { thread_id, last_read_seq: 1 });
    const foreign = await scene.as('zoe', { workspace: 'w7' }).thread();
    const closed = await alice.thread();
    await alice.ok('update_thread_status', { thread_id: closed, status: 'closed', reason: 'done' });
    const disputed = await alice.thread('bob');
    await scene
      .as('bob')
      .say(disputed, 'bug', { kind: 'event', metadata: { event_type: 'finding_reported' } });
    const post = { thread_id, schema_version: 1, body: 'x' };
    const wrong: [ErrorCode, OperationName, Record<string, unknown>, Participant?][] = [
      ['VALIDATION_ERROR', 'create_thread', {}],
      ['VALIDATION_ERROR', 'post_message', { ...post, schema_version: 2 }],
      ['VALIDATION_ERROR', 'post_message', { ...post, body: 'x'.repeat(65_537) }],
      ['VALIDATION_ERROR', 'ack_read', { thread_id, last_read_seq: 99 }],
      ['VALIDATION_ERROR', 'ack_read', { thread_id, last_read_seq: 0 }],
      [
        'NOT_FOUND',
        'get_thread',
        {
          thread_id: `${thread_id.slice(0, -5)}${thread_id.at(-5) === '0' ? '1' : '0'}${thread_id.slice(-4)}`,
        },
      ],
      ['NOT_FOUND', 'get_message', { thread_id, message_id: `${message_id.slice(0, -1)}!` }],
      ['NOT_FOUND', 'post_message', { ...post, in_reply_to: 'msg_none' }],
      ['NOT_FOUND', 'trigger_participant', { thread_id, target_agent_id: 'nobody' }],
      ['FORBIDDEN', 'read_messages', { thread_id }, scene.as('mallory')],
      ['FORBIDDEN', 'post_message', post, scene.as('alice', { role: 'observer' })],
      ['OUT_OF_SCOPE_WORKSPACE', 'get_thread', { thread_id: foreign }],
      ['OUT_OF_SCOPE_WORKSPACE', 'get_thread', { thread_id, workspace_id: 'w7' }],
      ['CLAIM_MISMATCH', 'post_message', { ...post, sender_agent_id: 'bob' }],
      ['CLAIM_MISMATCH', 'heartbeat_session', { runtime: 'x', session_id: 'other' }],
      ['CONFLICT', 'post_message', { ...post, thread_id: closed }],
      [
        'INSUFFICIENT_AUTHORITY',
        'update_thread_status',
        { thread_id: disputed, status: 'closed', reason: 'x' },
      ],
      ['INSUFFICIENT_AUTHORITY', 'trigger_participant', { thread_id, target_agent_id: 'bob', force: true }],
      ['IDEMPOTENCY_CONFLICT', 'post_message', { ...post, idempotency_key: 'taken' }],
      ['WAKE_FAILED', 'trigger_participant', { thread_id, target_agent_id: 'bob' }],
    ];
    for (const [code, operation, input, who = alice] of wrong) {
      const { request_id: _first, ...first } = await who.refused(operation, input, code);
      const { request_id: _second, ...second } = await over(who, face).refused(operation, input, code);
      // Each wake has an id of its own.
      for (const { details } of [first, second]) delete details['trigger_id'];
      expect(second).toEqual(first);
    }
  });

  test('[HUB-R8] [HUB-R4] a caller over its quota is told when to come back', async () => {
    const who = scene.as(`hasty-${others.indexOf(face)}`, { face });
    const thread_id = await who.thread();
    const posts = (count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, i) =>
          who.call('post_message', { thread_id, schema_version: 1, body: `${i}` }),
        ),
      );
    const all = await posts(215);
    await toldToAll(scene.hub);
    all.push(...(await posts(15)));
    const errors = all.flatMap(({ error }) => (error === undefined ? [] : [error]));
    expect(errors.length).toBeGreaterThan(0);
    for (const { code, details } of errors) {
      expect(code).toBe('RATE_LIMITED');
      expect(details['retry_after_ms']).toBeGreaterThan(0);
    }
  });
});

test('[HUB-A3] what a client says of itself in _meta changes nothing about who it is', async () => {
  const { modern } = await import('../harness/mcp-wire.ts');
  const alice = scene.as('alice');
  const thread_id = await alice.thread();
  const meta = {
    threadId: 'codex-thread',
    sessionId: 'bob-1',
    agent_id: 'bob',
    'x-codex-turn-metadata': { user: 'bob' },
    'io.modelcontextprotocol/clientInfo': { name: 'bob', version: '1' },
  };
  const params = { name: 'post_message', arguments: { thread_id, schema_version: 1, body: 'me' } };
  await modern(scene.hub.url, alice.token, 'tools/call', params, { meta });
  const { messages } = await alice.ok('read_messages', { thread_id });
  expect(messages[0]).toMatchObject({ sender_agent_id: 'alice', sender_session_id: 'alice-1' });
});
