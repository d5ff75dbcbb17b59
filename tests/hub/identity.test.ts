import { beforeAll, describe, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { callsOnThread, everyEntry, REFUSED } from '../harness/every-call.ts';
import { expectNoWayIn } from '../harness/other-routes.ts';
import { send } from '../harness/send.ts';
import { claimsOf, createSigner, issueByCommand, joinToken } from '../harness/tokens.ts';
import { type Participant, refused, succeeded, useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';

const scene = useHub({
  settings: {
    ...WITHOUT_MODEL,
    'quota.bad_tokens_burst': 100_000,
    'knowledge.agents_create_under': '["root"]',
  },
});
let thread_id = '';
let message_id = '';

beforeAll(async () => {
  const alice = scene.as('alice');
  thread_id = await alice.thread('bob');
  ({ message_id } = await alice.say(thread_id, 'hello'));
});

describe.each(faces)('over $name', (face) => {
  test('[HUB-A1] [HUB-A2] [C-AUTH-01] a token without one of its seven claims opens no operation', async () => {
    const good = claimsOf({ agent: 'alice' });
    expect(Object.keys(good)).toHaveLength(7);
    await scene.unchanged(async () => {
      for (const missing of Object.keys(good)) {
        const caller = scene.with('alice', scene.signer.craft({ ...good, [missing]: undefined }), face);
        for (const [operation, input] of everyEntry(thread_id, message_id))
          await caller.refused(operation, input, 'UNAUTHORIZED');
      }
    });
    succeeded(await scene.with('alice', scene.signer.craft(good), face).call('list_threads', {}));
  });

  test('[HUB-A1] no token, no operation', async () => {
    await scene.unchanged(async () => {
      for (const [operation, input] of everyEntry(thread_id, message_id))
        refused(await face.call(scene.hub.url, undefined, operation, input), 'UNAUTHORIZED', face);
    });
  });

  test('[HUB-A1] no operation takes a token that is expired, not yet valid, of another key or unsigned', async () => {
    const claims = claimsOf({ agent: 'alice' });
    const now = Number(claims['iat']);
    const bad = [
      scene.signer.craft({ ...claims, iat: now - 7_200, exp: now - 3_600 }),
      scene.signer.craft({ ...claims, nbf: now + 3_600 }),
      createSigner(scene.signer.kid).craft(claims),
      joinToken({ alg: 'none', kid: scene.signer.kid }, claims, () => Buffer.alloc(0)),
    ];
    await scene.unchanged(async () => {
      for (const [i, [operation, input]] of everyEntry(thread_id, message_id).entries()) {
        const token = bad[i % bad.length] ?? '';
        await scene.with('alice', token, face).refused(operation, input, 'UNAUTHORIZED');
      }
    });
  });

  test('[HUB-A2] [C-AUTH-02] claims of a wrong type are refused, never coerced', async () => {
    const wrong: Record<string, unknown>[] = [
      ...['agent_id', 'workspace_id', 'session_id', 'jti'].flatMap((name) =>
        [5, null, [], {}, true, ''].map((value) => ({ [name]: value })),
      ),
      ...['agent_id', 'workspace_id', 'session_id'].flatMap((name) =>
        ['a b', '--flag', '../x', 'a\nb', 'a'.repeat(129)].map((value) => ({ [name]: value })),
      ),
      ...[5, [], ['operator'], {}, null, '', 'Operator', 'root', 'operator '].map((role) => ({ role })),
      ...['iat', 'exp'].flatMap((name) =>
        ['tomorrow', '2000000000', 1e20, -1, 1.5, null, [], true].map((value) => ({ [name]: value })),
      ),
    ];
    await scene.unchanged(async () => {
      for (const claims of wrong) {
        const token = scene.signer.craft({ ...claimsOf({ agent: 'alice' }), ...claims });
        const answer = await scene.with('alice', token, face).call('list_threads', {});
        expect([answer.error?.code, claims]).toEqual(['UNAUTHORIZED', claims]);
        refused(answer, 'UNAUTHORIZED', face);
      }
    });
  });

  test('[HUB-A4] [C-AUTH-08] [HUB-A3] a payload that names another caller is refused on every operation', async () => {
    const alice = scene.as('alice', { face });
    const others = {
      agent_id: 'bob',
      created_by: 'bob',
      sender_agent_id: 'bob',
      session_id: 'bob-1',
      sender_session_id: 'bob-1',
    };
    await scene.unchanged(async () => {
      for (const [operation, input] of everyEntry(thread_id, message_id)) {
        for (const [field, value] of Object.entries(others)) {
          const error = await alice.refused(operation, { ...input, [field]: value }, 'CLAIM_MISMATCH');
          expect(error.details).toMatchObject({ field });
        }
      }
    });
  });

  test('[HUB-A4] the same fields with the values of the claims are accepted', async () => {
    const alice = scene.as('alice', { face });
    const own = {
      workspace_id: 'w1',
      agent_id: 'alice',
      created_by: 'alice',
      sender_agent_id: 'alice',
      session_id: 'alice-1',
      sender_session_id: 'alice-1',
    };
    const fresh = await alice.thread('bob');
    const said = await alice.say(fresh, 'hello');
    for (const [operation, input] of everyEntry(fresh, said.message_id)) {
      const { error } = await alice.call(operation, { ...input, ...own });
      expect([operation, error?.code]).toEqual([operation, REFUSED[operation]]);
    }
  });

  test('[HUB-A3] [C-AUTH-09] the sender of a message is who the token says', async () => {
    const { message_id: id, seq } = await scene
      .as('bob', { face, session: 'bob-7' })
      .say(thread_id, 'who am I?');
    const { messages } = await scene
      .as('alice', { face })
      .ok('read_messages', { thread_id, since_seq: seq - 1 });
    expect(messages[0]).toMatchObject({ message_id: id, sender_agent_id: 'bob', sender_session_id: 'bob-7' });
  });

  test('[HUB-A5] [C-AUTH-10] another workspace is out of scope, whether its thread exists or not', async () => {
    const alice = scene.as('alice', { face });
    const stranger = scene.as('alice', { workspace: 'w2', face });
    const settled = scene.as('alice', { workspace: 'w3', face });
    await settled.thread();
    const unknown = thread_id.replace(/^th_.{8}/, 'th_01JXYZ00');
    expect(unknown).not.toBe(thread_id);
    await scene.unchanged(async () => {
      for (const [operation, input] of everyEntry(thread_id, message_id))
        await alice.refused(operation, { ...input, workspace_id: 'w2' }, 'OUT_OF_SCOPE_WORKSPACE');
      for (const [operation] of callsOnThread(thread_id, message_id)) {
        const answers = new Set<string>();
        const ask = async (foreigner: Participant, input: unknown): Promise<void> => {
          const error = await foreigner.refused(operation, input, 'OUT_OF_SCOPE_WORKSPACE');
          answers.add(JSON.stringify({ ...error, request_id: '' }));
        };
        for (const foreigner of [stranger, settled]) {
          for (const id of [thread_id, unknown])
            await ask(foreigner, Object.fromEntries(callsOnThread(id, message_id))[operation]);
        }
        // Nothing the hub could have made, asked for from a workspace that is empty.
        await ask(stranger, Object.fromEntries(callsOnThread('th_01JXYZ', message_id))[operation]);
        expect([...answers]).toHaveLength(1);
      }
    });
  });

  test('[HUB-A5] the workspace is decided before the other claims and before the input is read', async () => {
    const alice = scene.as('alice', { face });
    const input = { workspace_id: 'w2', agent_id: 'bob', thread_id: 5 };
    await scene.unchanged(() => alice.refused('post_message', input, 'OUT_OF_SCOPE_WORKSPACE'));
  });

  test('[HUB-A5] [R12] lists and searches hold nothing of another workspace', async () => {
    const mallory = scene.as('alice', { workspace: 'w2', role: 'operator', face });
    expect((await mallory.ok('list_threads', {})).threads).toEqual([]);
    expect((await mallory.ok('list_sessions', {})).sessions).toEqual([]);
    expect((await mallory.ok('search_messages', { query: 'hello' })).hits).toEqual([]);
  });

  test('[HUB-A6] [C-HUB-18] [HUB-A3] who takes no part in a thread may neither read nor change it', async () => {
    const carol = scene.as('carol', { face });
    await scene.unchanged(async () => {
      for (const [operation, input] of callsOnThread(thread_id, message_id))
        await carol.refused(operation, input, 'FORBIDDEN');
    });
    expect((await carol.ok('list_threads', {})).threads).toEqual([]);
    expect((await carol.ok('search_messages', { query: 'hello' })).hits).toEqual([]);
  });

  test.each(['operator', 'orchestrator'])(
    '[HUB-A6] an %s steers threads it takes no part in',
    async (role) => {
      const boss = scene.as('boss', { role, face });
      const id = await scene.as('alice', { face }).thread('bob');
      const { message_id: first } = await boss.say(id, 'carry on');
      await boss.ok('read_messages', { thread_id: id });
      await boss.ok('ack_read', { thread_id: id, last_read_seq: 1 });
      await boss.ok('get_message', { thread_id: id, message_id: first });
      await boss.ok('update_thread_status', { thread_id: id, status: 'blocked', reason: 'a look first' });
      await boss.ok('summarize_thread', { thread_id: id });
      const listed = (await boss.ok('list_threads', {})).threads.map((thread) => thread.thread_id);
      expect(listed).toContain(id);
    },
  );
});

test('[C-AUTH-01] a token without one of its seven claims opens no other route either', async () => {
  const good = claimsOf({ agent: 'alice' });
  await scene.unchanged(async () => {
    for (const missing of Object.keys(good)) {
      const token = scene.signer.craft({ ...good, [missing]: undefined });
      await expectNoWayIn(scene.hub.url, token, thread_id);
    }
  });
});

test('[HUB-A7] a token of `parley token issue` carries the asked identity and works on the running hub', async () => {
  const who = { agent: 'dora', workspace: 'w9', role: 'orchestrator', session: 'dora-3', ttl: '15m' };
  const issued = await issueByCommand(who, { data: scene.hub.data });
  const claims = JSON.parse(Buffer.from(issued.token.split('.')[1] ?? '', 'base64url').toString()) as Record<
    string,
    unknown
  >;
  expect(claims).toMatchObject({
    agent_id: 'dora',
    workspace_id: 'w9',
    role: 'orchestrator',
    session_id: 'dora-3',
    jti: issued.jti,
  });
  expect(Number(claims['exp']) - Number(claims['iat'])).toBe(900);
  const dora = scene.with('dora', issued.token);
  const id = await dora.thread();
  expect(await dora.ok('get_thread', { thread_id: id })).toMatchObject({
    workspace_id: 'w9',
    created_by: 'dora',
  });
});

test('[HUB-A4] [HUB-A5] the resource-style reads hold the same line', async () => {
  const alice = scene.as('alice');
  const get = async (path: string): Promise<unknown> => {
    const { text } = await send(`${scene.hub.url}${path}`, {
      headers: { authorization: `Bearer ${alice.token}` },
    });
    const body = JSON.parse(text) as { error?: { code: string } };
    return body.error?.code;
  };
  expect(await get(`/v1/threads/${thread_id}?agent_id=alice&workspace_id=w1`)).toBeUndefined();
  expect(await get(`/v1/threads/${thread_id}?agent_id=bob`)).toBe('CLAIM_MISMATCH');
  expect(await get(`/v1/threads/${thread_id}?workspace_id=w2`)).toBe('OUT_OF_SCOPE_WORKSPACE');
  expect(await get(`/v1/threads?created_by=bob`)).toBe('CLAIM_MISMATCH');
});
