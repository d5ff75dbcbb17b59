import { describe, expect, test, vi } from 'vitest';

import { residentMb } from '../harness/memory.ts';
import { openListen, openPush } from '../harness/mcp-stream.ts';
import { LEGACY, openLegacy, postRpc, resultOf } from '../harness/mcp-wire.ts';
import { send } from '../harness/send.ts';
import { startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

describe('sessions of the older revisions', () => {
  const scene = useHub();

  const ping = (token: string, id: string) =>
    postRpc(scene.hub.url, token, PING, {
      headers: { 'mcp-session-id': id, 'mcp-protocol-version': LEGACY },
    });

  test('an id is long, random, and of visible characters', async () => {
    const { token } = scene.as('alice');
    const ids: string[] = [];
    for (let i = 0; i < 50; i++) ids.push((await openLegacy(scene.hub.url, token)).id);
    expect(new Set(ids).size).toBe(50);
    // Where there are several nodes, it says at which of them.
    for (const id of ids) expect(id).toMatch(/^(?:[0-9a-f]{16}\.)?[A-Za-z0-9_-]{32,}$/);
  });

  test('a session serves its own principal, with any of its tokens, and nobody else', async () => {
    const alice = scene.as('alice');
    const { id } = await openLegacy(scene.hub.url, alice.token);
    expect((await ping(alice.token, id)).status).toBe(200);
    expect((await ping(scene.as('alice').token, id)).status).toBe(200);
    const others = [
      scene.as('bob'),
      scene.as('alice', { workspace: 'w2' }),
      scene.as('alice', { role: 'operator' }),
      scene.as('alice', { session: 'alice-2' }),
      scene.as('root', { role: 'operator' }),
    ];
    for (const other of others) {
      const reply = await ping(other.token, id);
      expect([reply.status, reply.answer?.error?.code]).toEqual([404, -32_001]);
      for (const method of ['GET', 'DELETE']) {
        const headers = {
          authorization: `Bearer ${other.token}`,
          accept: 'text/event-stream',
          'mcp-session-id': id,
        };
        expect((await send(`${scene.hub.url}/mcp`, { method, headers })).status).toBe(404);
      }
    }
    expect((await ping(alice.token, id)).status).toBe(200);
  });

  test('an unknown session is 404, none at all 400, an ended one 404', async () => {
    const { token } = scene.as('alice');
    expect((await ping(token, 'made-up')).status).toBe(404);
    expect((await postRpc(scene.hub.url, token, PING)).status).toBe(400);
    const session = await openLegacy(scene.hub.url, token);
    expect(await session.delete()).toBe(200);
    expect((await ping(token, session.id)).status).toBe(404);
  });

  test('every older revision is spoken', async () => {
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) {
      const session = await openLegacy(scene.hub.url, scene.as('alice').token, version);
      expect(session.init.answer?.result?.['protocolVersion']).toBe(version);
      expect((await session.request('tools/list')).status).toBe(200);
    }
  });
});

describe('bounds of sessions', () => {
  test('a silent session ends after its time; one with an open stream does not', async () => {
    const hub = await startHub({ settings: { 'mcp.session_idle_ms': 1_000 } });
    const { token } = await issueToken({ agent: 'alice' }, { data: hub.data });
    const silent = await openLegacy(hub.url, token);
    const listening = await openLegacy(hub.url, token);
    const stream = await openPush(hub.url, token, listening.id);
    await vi.waitFor(
      async () => expect((await silent.request('ping')).status).toBe(404),
      // Each look would keep the session alive: look rarely.
      { interval: 1_700, timeout: 10_000 },
    );
    expect((await listening.request('ping')).status).toBe(200);
    stream.close();
    await hub.stop();
  });

  test('at the bound the longest idle session goes, the caller’s own first; a busy one stays', async () => {
    const hub = await startHub({ settings: { 'mcp.max_sessions': 3 } });
    const alice = (await issueToken({ agent: 'alice' }, { data: hub.data })).token;
    const bob = (await issueToken({ agent: 'bob' }, { data: hub.data })).token;
    const status = async (session: Awaited<ReturnType<typeof openLegacy>>) =>
      (await session.request('ping')).status;
    const first = await openLegacy(hub.url, bob);
    const second = await openLegacy(hub.url, alice);
    const third = await openLegacy(hub.url, bob);
    const fourth = await openLegacy(hub.url, alice);
    expect([await status(first), await status(second), await status(third), await status(fourth)]).toEqual([
      200, 404, 200, 200,
    ]);
    const streams = [
      await openPush(hub.url, bob, first.id),
      await openPush(hub.url, bob, third.id),
      await openPush(hub.url, alice, fourth.id),
    ];
    const refused = await openLegacy(hub.url, bob);
    expect([refused.init.status, refused.init.answer?.error?.data?.['code']]).toEqual([503, 'UNAVAILABLE']);
    for (const stream of streams) stream.close();
    await vi.waitFor(async () => expect((await openLegacy(hub.url, bob)).init.status).toBe(200), 20_000);
    await hub.stop();
  });

  test('one agent that keeps all sessions busy keeps nobody else out', async () => {
    const most = 6;
    const hub = await startHub({ settings: { 'mcp.max_sessions': most } });
    const tokenOf = async (agent: string, workspace = 'w1') =>
      (await issueToken({ agent, workspace }, { data: hub.data })).token;
    const hog = await tokenOf('hog');
    const held: string[] = [];
    for (let i = 0; i < most; i++) held.push((await openLegacy(hub.url, hog)).id);
    const streams = await Promise.all(held.map((id) => openPush(hub.url, hog, id)));
    let open = most;
    for (const stream of streams) void stream.ended.then(() => open--);
    // Another token of the same agent is no other agent.
    const again = await openLegacy(hub.url, await tokenOf('hog'));
    expect([again.init.status, again.init.answer?.error?.data?.['code']]).toEqual([503, 'UNAVAILABLE']);
    const others = [];
    for (const token of [await tokenOf('alice'), await tokenOf('bob'), await tokenOf('hog', 'w2')]) {
      const session = await openLegacy(hub.url, token);
      expect(session.init.status).toBe(200);
      others.push({ session, stream: await openPush(hub.url, token, session.id) });
    }
    // Who came has a share, and the share of the one who had most has become smaller, no more than that.
    for (const { session } of others) expect((await session.request('ping')).status).toBe(200);
    await vi.waitFor(() => expect(open).toBe(most - 3), 20_000);
    expect((await openLegacy(hub.url, hog)).init.status).toBe(503);
    for (const stream of [...streams, ...others.map((other) => other.stream)]) stream.close();
    await hub.stop();
  });

  test('an idle session costs at most half a megabyte', { timeout: 120_000 }, async () => {
    const hub = await startHub({ flags: ['--log-level', 'error'] });
    const { token } = await issueToken({ agent: 'alice' }, { data: hub.data });
    const open = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i += 20)
        await Promise.all(Array.from({ length: 20 }, () => openLegacy(hub.url, token)));
    };
    await open(200);
    const before = residentMb(hub.pid);
    await open(600);
    const each = (residentMb(hub.pid) - before) / 600;
    expect(each).toBeLessThanOrEqual(0.5);
    await hub.stop();
  });

  test('a hub stops although streams are open, long before it would cut them off', async () => {
    const hub = await startHub({ settings: { 'http.shutdown_timeout_ms': 600_000 } });
    const { token } = await issueToken({ agent: 'alice' }, { data: hub.data });
    const session = await openLegacy(hub.url, token);
    const made = await session.request('tools/call', { name: 'create_thread', arguments: { title: 'x' } });
    const { thread_id } = resultOf(made)['structuredContent'] as { thread_id: string };
    const streams = [
      await openPush(hub.url, token, session.id),
      await openListen(hub.url, token, { resourceSubscriptions: [`parley://threads/${thread_id}`] }),
    ];
    expect(await hub.stop()).toBe(0);
    await Promise.all(streams.map((stream) => stream.ended));
  });
});
