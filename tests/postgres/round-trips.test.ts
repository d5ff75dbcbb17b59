import { randomUUID } from 'node:crypto';

import { type InputOf, type OperationName, type OutputOf, type Role, entriesOf } from '@parley/protocol';
import { openPostgres } from '@parley/store-postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { OWN_WORKSPACE } from '../../packages/core/src/hub-caller.ts';
import { openSampleHub, type SampleHub } from '../../packages/core/src/sample-hub.ts';
import { codeKey } from '../../packages/core/src/passkeys/passkey-record.ts';
import { challengeOf } from '../../packages/core/src/passkeys/statement.ts';
import { creating, head, posting } from '../../packages/core/src/store-contract/scene.ts';
import { ORDER_MAX } from '../../packages/core/src/knowledge/order-keys.ts';
import { nth, treeScene } from '../../packages/core/src/store-contract/tree-scene.ts';
import { everyCall } from '../harness/every-call.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type LockstepProxy, openLockstepProxy } from './lockstep-proxy.ts';

/** What no call may exceed, from the socket to the answer. */
const MOST = 5;
/** Of which one goes before every call: whether a token or a key was revoked. */
const AUTHENTICATION = 1;

/** What these do is measured up to where another takes over, who has steps of its own to keep and to wait for. */
const HANDED_ON: Partial<Record<OperationName, string>> = {
  trigger_participant: 'the waker opens doors, and notes each step',
  command_agent: 'the agent answers when it can',
  redrive_deliveries: 'the queue has it; the command itself is measured below',
};

const DAY_MS = 86_400_000;
const DEEP = 40;
const WIDE = 30;
const AGENTS = 30;

/** What a browser says it has signed. */
const clientData = (challenge: string): string =>
  Buffer.from(JSON.stringify({ challenge })).toString('base64url');

describeWith(['postgres'], 'round trips to PostgreSQL', () => {
  let server: PostgresServer;
  let proxy: LockstepProxy;
  let hub: SampleHub;
  let close: () => Promise<void>;
  const clock = { now: Date.now() };
  const as = (agent_id: string, role: Role = 'worker', workspace_id = 'w') => ({
    agent_id,
    workspace_id,
    role,
    session_id: `${agent_id}-1`,
  });
  const op = as('op', 'operator');
  const alice = as('alice');

  beforeAll(async () => {
    server = await startPostgres();
    proxy = await openLockstepProxy(Number(new URL(server.url).port));
    const url = new URL(server.url);
    url.port = String(proxy.port);
    const { store } = await openPostgres({
      url: url.href,
      onFault: (message) => console.error(message),
      // Time must not part what one call writes: it is counted.
      batchMs: 600_000,
    });
    hub = openSampleHub(store, clock);
    hub.deps.artifacts = {
      ...hub.deps.artifacts,
      keep: async () => ({ sha256: 'a'.repeat(64), bytes: 8 }),
    };
    close = async () => {
      await hub.deps.offers.flush();
      await store.close();
    };
  }, 60_000);
  afterAll(async () => {
    await close();
    await proxy.close();
    await server.close();
  });

  const call = async <N extends OperationName>(who: typeof op, name: N, input: InputOf<N> & object) =>
    (await hub.call(who, name, input)) as OutputOf<N>;

  async function counted(run: () => Promise<unknown>): Promise<{ rounds: number; error: string }> {
    // What was handed out is noted a moment later, by itself.
    await hub.deps.offers.flush();
    proxy.take();
    const error = await run().then(
      () => '',
      (thrown: unknown) => String(thrown),
    );
    return { rounds: proxy.take(), error };
  }

  const document = (parent_id: string, document_id: string = randomUUID()) => ({
    document_id,
    parent_id,
    content: { mime_type: 'text/markdown' as const, body: '# A text\n\nsee [[another]] and [[a third]]' },
    metadata: { title: `title ${document_id}` },
  });
  const made = async (parent: string): Promise<string> =>
    (await call(op, 'create_document', document(parent))).id;

  test('no operation takes more than five round trips, however deep or wide what it looks at', async () => {
    const { thread_id } = await call(alice, 'create_thread', { title: 'a thread', participants: ['bob'] });
    const post = (who: typeof op, body: string, more: object = {}) =>
      call(who, 'post_message', { thread_id, schema_version: 1, body, ...more });
    const { message_id } = await post(alice, 'one');
    for (let i = 0; i < 20; i++) await post(as('bob'), `more ${i}`, { in_reply_to: message_id });
    for (let i = 0; i < AGENTS; i++) {
      const name = `agent-${i}`;
      await call(as(name), 'register_agent', { name });
      await call(as(name), 'heartbeat_session', { runtime: 'codex_cli' });
      await call(op, 'create_thread', { title: `for ${name}`, participants: [name] });
    }
    await call(alice, 'register_agent', { name: 'alice' });
    const failed_at = (await call(as('agent-4'), 'report_event', { event_type: 'error' })).created_at;
    const { thread_id: side } = await call(alice, 'open_side_channel', {
      thread_id,
      title: 'aside',
      purpose: 'detail',
      participants: ['bob'],
    });
    const { message_id: task } = await call(alice, 'assign_task', { thread_id, to: 'bob', body: 'look' });
    const { thread_id: settled } = await call(alice, 'create_thread', { title: 'settled' });
    await call(alice, 'update_thread_status', { thread_id: settled, status: 'resolved', reason: 'done' });
    const [first, second] = [
      await call(alice, 'raise_ask', { prompt: 'may I?', expires_in_ms: DAY_MS }),
      await call(op, 'raise_ask', { prompt: 'may I too?', expires_in_ms: DAY_MS }),
    ].map(({ ask }) => ask.ask_id);
    let end = 'root';
    const chain: string[] = [];
    for (let i = 0; i < DEEP; i++) chain.push((end = await made(end)));
    const wide = await made('root');
    const children: string[] = [];
    for (let i = 0; i < WIDE; i++) {
      children.push(await made(wide));
      await made(children.at(-1) ?? '');
    }
    const [top = '', middle = ''] = [chain[0], chain[DEEP / 2]];
    const { artifact_id } = (
      await call(op, 'put_artifact', { name: 'x.txt', mime_type: 'text/plain', content: 'x' })
    ).artifact;
    const { approval_rule_id } = (
      await call(op, 'add_approval_rule', { of_agent: 'bob', command: 'npm test' })
    ).approval_rule;
    const signing = { person: 'op', workspace_id: 'w', origin: 'http://localhost', site: 'localhost' };
    const given = { ...signing, hub: 'sample', nonce: 'n', until: 4e12 };
    const challenge = (key: string, purpose: 'add' | 'code' | 'answer', ask_id?: string) =>
      hub.deps.store.transact({
        type: 'issue_challenge',
        ...head(op),
        input: {},
        challenge: { ...given, key, purpose, ...(ask_id === undefined ? {} : { ask_id }) },
      });
    const device_key = (credential_id: string) => ({
      code: 'BCDF-GHJK',
      name: 'a tablet',
      credential: { credential_id, client_data: clientData('made'), attestation: 'AA' },
    });
    // Whether a signature is right takes no look into the store.
    hub.deps.passkeys = {
      demanded: 'high_risk',
      hub: 'sample',
      origins: () => ['http://localhost'],
      checkNew: () => Promise.resolve({ public_key: 'AA', counter: 0 }),
      checkSignature: () => Promise.resolve({ counter: 0 }),
    };
    await challenge('made', 'add');
    await challenge(codeKey('BCDF-GHJK'), 'code');
    const { passkey_id } = (await call(op, 'add_passkey', device_key('AA'))).passkey;
    await challenge('made', 'add');
    await challenge(codeKey('BCDF-GHJK'), 'code');
    const risky = { kind: 'approval', prompt: 'x', command: 'rm -rf x', expires_in_ms: DAY_MS } as const;
    const { ask: dangerous } = await call(alice, 'raise_ask', risky);
    const yes = { ask_id: dangerous.ask_id, decision: 'approved' } as const;
    const key = challengeOf(given, dangerous, { decision: 'approved' });
    await challenge(key, 'answer', dangerous.ask_id);
    const passkey = {
      credential_id: 'AA',
      client_data: clientData(key),
      authenticator_data: 'AA',
      signature: 'AA',
    };
    const hook = { name: 'a hook', kind: 'webhook' as const, target: { url: 'https://hooks.example/x' } };
    const { channel_id } = (await call(op, 'add_channel', hook)).channel;
    const moment = new Date(clock.now).toISOString();
    const device = {
      device_id: 'tablet-1',
      workspace_id: 'w',
      agent_id: 'op',
      name: 'a tablet',
      role: 'operator' as const,
      read_only: false,
      created_at: moment,
      last_seen_at: moment,
      expires_at: new Date(clock.now + 1e9).toISOString(),
      secret_hash: '',
    };
    await hub.deps.store.transact({ type: 'add_device', ...head(op), input: { device } });
    const delivery = {
      delivery_id: 'dlv_1',
      eta: moment,
      expires_at: new Date(clock.now + 1e9).toISOString(),
      idempotency_key: 'k',
    };
    const accepted = { action: 'registry.heartbeat' as const, args: {} };
    await hub.deps.store.transact({ type: 'accept_delivery', ...head(op), delivery, input: accepted });
    // From here on nothing is asked but by the calls.
    hub.deps.asks.close();
    // What lies there long enough is looked into for every agent.
    clock.now += 3_600_000;

    const inputs: Record<OperationName, Record<string, unknown>[]> = {
      ...(Object.fromEntries(
        entriesOf(everyCall(thread_id, message_id)).map(([name, input]) => [name, [input]]),
      ) as Record<OperationName, Record<string, unknown>[]>),
      post_message: [
        { thread_id, schema_version: 1, body: 'x', in_reply_to: message_id, to: 'bob', idempotency_key: 'k' },
        { thread_id: side, schema_version: 1, body: 'aside' },
      ],
      list_threads: [{}, { text: 'thread' }, { unread: true }],
      check_reach: [{ of_agent: 'agent-1' }],
      report_result: [{ thread_id, task, body: 'looked' }],
      close_side_channel: [{ thread_id: side, summary: 'nothing' }],
      list_agents: [{}, { state: 'offline' }],
      list_agent_states: [{}, { of_agent: 'agent-2' }],
      report_usage: [{ input_tokens: 1, thread_id }],
      get_usage: [{}, { by: 'day' }],
      get_agent: [{ of_agent: 'agent-2' }],
      dismiss_error: [{ of_agent: 'agent-4', failed_at }],
      forget_agent: [{ of_agent: 'agent-3' }],
      wait_for_ask: [{ ask_id: first, timeout_ms: 0 }],
      get_ask: [{ ask_id: first }],
      answer_ask: [
        { ask_id: first, decision: 'approved' },
        { ...yes, passkey },
      ],
      challenge_ask: [{ ...yes, origin: 'http://localhost' }],
      add_passkey: [device_key('BB')],
      remove_passkey: [{ passkey_id }],
      withdraw_ask: [{ ask_id: second }],
      create_document: [document(end), document(wide)],
      promote_thread: [{ thread_id: settled }],
      update_document: [
        {
          document_id: middle,
          patch: { metadata: { title: 'another' }, content: { body: 'new' } },
          update_mask: ['metadata.title', 'content.body'],
        },
      ],
      get_document: [{ document_id: end }, { document_id: middle, revision: 1 }],
      get_document_history: [{ document_id: middle }],
      get_document_links: [{ document_id: middle }],
      revert_document: [{ document_id: middle, revision: 1 }],
      list_documents: [{ parent_id: wide }, { parent_id: wide, title: 'title' }],
      import_documents: [
        {
          documents: children.flatMap((id) => {
            const one = document(id);
            return [one, document(one.document_id)];
          }),
        },
      ],
      move_document: [
        { document_id: wide, new_parent_id: end, position: { ordering: 0 } },
        { document_id: children[0], new_parent_id: wide, position: { before: children[5] } },
        { document_id: children[1], new_parent_id: wide, position: { ordering: 7 } },
        { document_id: children[2], new_parent_id: 'root' },
      ],
      delete_document: [{ document_id: top }],
      restore_document: [{ document_id: top }],
      get_artifact: [{ artifact_id }],
      sign_artifact_url: [{ artifact_id }],
      get_delivery: [{ delivery_id: delivery.delivery_id }],
      revoke_device: [{ device_id: device.device_id }],
      revoke_approval_rule: [{ approval_rule_id }],
      update_channel: [{ channel_id, paused: true }],
      remove_channel: [{ channel_id }],
      test_channel: [{ channel_id }],
    };
    // These undo what others look at.
    const late: OperationName[] = [
      'answer_ask',
      'remove_passkey',
      'move_document',
      'delete_document',
      'restore_document',
      'remove_channel',
      'update_thread_status',
    ];
    const rank = (name: OperationName): number => late.indexOf(name);
    const order = entriesOf(inputs).toSorted(([a], [b]) => rank(a) - rank(b));
    const found: Record<string, unknown> = {};
    for (const [name, some] of order)
      for (const [i, input] of some.entries()) {
        const { rounds, error } = await counted(() => hub.call(op, name, input));
        if (rounds + AUTHENTICATION > MOST) found[`${name} ${i}`] = rounds + AUTHENTICATION;
        if (error !== '' && HANDED_ON[name] === undefined) found[`${name} ${i}`] = error;
      }
    expect(found).toEqual({});
  }, 180_000);

  test('neither does what the hub does of itself, and a batch takes no more than one of its commands', async () => {
    const { store } = hub.deps;
    const tree = treeScene(store, 'w2');
    for (let i = 1; i <= WIDE; i++) await tree.create(i, i === 1 ? undefined : 1);
    await Promise.all(
      Array.from({ length: 1_000 }, (_, i) =>
        tree.run('move_document', {
          document_id: nth(3 + (i % 2)),
          new_parent_id: nth(1),
          position: { before: nth(5) },
        }),
      ),
    );
    expect((await tree.document(4))?.order.length).toBeGreaterThan(ORDER_MAX);
    const hubs = as('hub', 'operator', 'w2');
    await store.transact(creating('th_1', hubs));
    await store.transact(posting('th_1', 'first', hubs));
    const lease = { type: 'take_lease', input: { name: 'asks', owner: 'me', ttl_ms: 6_000 } } as const;
    const fence = { lease: 'asks', epoch: 1 };
    const offers = Array.from({ length: WIDE }, (_, i) => ({
      thread_id: 'th_1',
      agent_id: `agent-${i}`,
      how: 'sse',
      first: 1,
      seq: 1,
      at: new Date(0).toISOString(),
    }));
    const own = as('hub', 'operator', OWN_WORKSPACE);
    const runs: Record<string, () => Promise<unknown>> = {
      'a lease is taken': () => store.transact({ ...lease, ...head(own) }),
      'a write under a lease': () => store.transact({ ...posting('th_1', 'x', hubs), fence }),
      'siblings get short keys': () => tree.run('tidy_order', { document_id: nth(4) }),
      'offers are noted': () => store.transact({ type: 'note_offers', ...head(hubs), input: { offers } }),
      'a batch of posts': () =>
        Promise.all(Array.from({ length: 50 }, (_, i) => store.transact(posting('th_1', `${i}`, hubs)))),
      'a batch of documents': () =>
        Promise.all(Array.from({ length: 50 }, (_, i) => tree.create(100 + i, 1 + (i % WIDE)))),
      'a batch of nonces': () =>
        Promise.all(
          Array.from({ length: 50 }, (_, i) =>
            store.transact({
              type: 'use_nonce',
              ...head(hubs),
              input: { kid: 'k', nonce: `${i}`, until: Date.now() + 1e6 },
            }),
          ),
        ),
    };
    const found: Record<string, unknown> = {};
    for (const [name, run] of Object.entries(runs)) {
      const { rounds, error } = await counted(run);
      if (rounds > MOST || error !== '') found[name] = error || rounds;
    }
    expect(found).toEqual({});
  }, 60_000);
});
