import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, test, vi } from 'vitest';

import { openPush, openRpcStream } from '../harness/mcp-stream.ts';
import { LEGACY, modern, modernMessage, openLegacy } from '../harness/mcp-wire.ts';
import { parseLog, storedMessages } from '../harness/oracle.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub();
const WAIT_MS = 30_000;

/** How the gate's log tells of the waiting calls of an agent that have ended. */
function endedWaits(agent: string): number[] {
  return parseLog(scene.hub.stderr())
    .filter((line) => line['op'] === 'wait_for_messages' && line['agent'] === agent)
    .map((line) => Number(line['ms']));
}

async function seeEnded(agent: string): Promise<void> {
  await vi.waitFor(() => expect(endedWaits(agent)).toHaveLength(1), 20_000);
  expect(endedWaits(agent)[0]).toBeLessThan(WAIT_MS / 2);
}

describe('a client that leaves in the middle of a call', () => {
  test('[C-MCP-06] 2026-07-28: the work stops', async () => {
    const who = scene.as('modern-leaver');
    const thread_id = await who.thread();
    const params = { name: 'wait_for_messages', arguments: { thread_id, timeout_ms: WAIT_MS } };
    // The hub loads the protocol for the first who speaks it, each node of it; here the call itself is to be under way.
    for (const _ of scene.hub.pids) await modern(scene.hub.url, who.token, 'tools/list');
    const leaving = new AbortController();
    const call = modern(scene.hub.url, who.token, 'tools/call', params, { signal: leaving.signal });
    await sleep(200);
    expect(endedWaits('modern-leaver')).toEqual([]);
    leaving.abort();
    await expect(call).rejects.toThrow();
    await seeEnded('modern-leaver');
  });

  test('[C-MCP-06] 2025-11-25: the work stops, and nothing of it is sent on another stream later', async () => {
    const who = scene.as('legacy-leaver');
    const thread_id = await who.thread();
    const session = await openLegacy(scene.hub.url, who.token);
    const push = await openPush(scene.hub.url, who.token, session.id);
    const call = await openRpcStream(scene.hub.url, who.token, {
      method: 'POST',
      headers: { 'mcp-session-id': session.id, 'mcp-protocol-version': LEGACY },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 77,
        method: 'tools/call',
        params: { name: 'wait_for_messages', arguments: { thread_id, timeout_ms: WAIT_MS } },
      }),
    });
    expect(call.status).toBe(200);
    call.close();
    await seeEnded('legacy-leaver');
    await who.say(thread_id, 'too late');
    await session.request('tools/list');
    expect(push.messages()).toEqual([]);
    push.close();
  });

  test('[C-MCP-06] 2025-11-25: a cancelled call ends without an answer, and so does its stream', async () => {
    const who = scene.as('canceller');
    const thread_id = await who.thread();
    const session = await openLegacy(scene.hub.url, who.token);
    const call = await openRpcStream(scene.hub.url, who.token, {
      method: 'POST',
      headers: { 'mcp-session-id': session.id, 'mcp-protocol-version': LEGACY },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 78,
        method: 'tools/call',
        params: { name: 'wait_for_messages', arguments: { thread_id, timeout_ms: WAIT_MS } },
      }),
    });
    expect((await session.notify('notifications/cancelled', { requestId: 78 })).status).toBe(202);
    await call.ended;
    expect(call.messages()).toEqual([]);
    await seeEnded('canceller');
  });

  test('[C-MCP-06] what was committed stays, once, and its key gives the answer that was lost', async () => {
    const who = scene.as('hasty');
    const thread_id = await who.thread();
    const posts = Array.from({ length: 60 }, (_, i) => ({
      name: 'post_message',
      arguments: { thread_id, schema_version: 1, body: `hasty ${i}`, idempotency_key: `hasty-${i}` },
    }));
    await Promise.all(
      posts.map(async (params, i) => {
        const { body, headers } = modernMessage('tools/call', params);
        const call = openRpcStream(scene.hub.url, who.token, { method: 'POST', body, headers });
        const left = sleep(i % 12).then(async () => (await Promise.race([call, sleep(0)]))?.close());
        await Promise.allSettled([call, left]);
      }),
    );
    const kept = (await storedMessages(scene.hub.data)).filter((message) => message.thread_id === thread_id);
    expect(kept.length).toBeGreaterThan(0);
    for (const params of posts) {
      const { answer } = await modern(scene.hub.url, who.token, 'tools/call', params);
      const again = answer?.result?.['structuredContent'] as { message_id: string };
      const before = kept.find((message) => message.body === params.arguments.body);
      if (before !== undefined) expect(again.message_id).toBe(before.message_id);
    }
    const all = (await storedMessages(scene.hub.data)).filter((message) => message.thread_id === thread_id);
    expect(new Set(all.map((message) => message.body)).size).toBe(posts.length);
    expect(all).toHaveLength(posts.length);
  });
});

test('a long wait shows that it lives to a client that gave a progress token, and to no other', async () => {
  const who = scene.as('patient');
  const thread_id = await who.thread();
  const params = { name: 'wait_for_messages', arguments: { thread_id, timeout_ms: 11_000 } };
  const session = await openLegacy(scene.hub.url, who.token);
  const meta = { progressToken: 'tok-1' };
  const [inModern, inLegacy, silent] = await Promise.all([
    modern(scene.hub.url, who.token, 'tools/call', params, { meta }),
    session.request('tools/call', { ...params, _meta: meta }),
    modern(scene.hub.url, who.token, 'tools/call', params),
  ]);
  for (const { messages } of [inModern, inLegacy]) {
    expect(messages.map(({ method }) => method)).toEqual(['notifications/progress', undefined]);
    expect(messages[0]?.params).toMatchObject({ progressToken: 'tok-1', progress: 1 });
    expect(messages[1]?.result?.['structuredContent']).toMatchObject({ timed_out: true, messages: [] });
  }
  expect(silent.messages).toHaveLength(1);
});
