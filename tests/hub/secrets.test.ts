import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { type Canary, canaries, leaked } from '../harness/canaries.ts';
import { modern, openLegacy } from '../harness/mcp-wire.ts';
import { parseLog } from '../harness/oracle.ts';
import { send } from '../harness/send.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { registerSigner, type Signer } from '../harness/tokens.ts';
import { dial } from '../ws/live-client.ts';

const known: Canary[] = [];
const some = (): Canary[] => {
  const made = canaries();
  known.push(...made);
  return made;
};

let hub: HubProcess;
let signer: Signer;
beforeAll(async () => {
  const data = freshFolder();
  hub = await startHub({
    data,
    flags: ['--log-level', 'trace'],
    settings: {
      // Whoever cannot be asked is told by the whole address.
      'summary.endpoint': `http://app:${some()[2]?.text}@127.0.0.1:9/v1`,
      'summary.model': 'none',
    },
  });
  signer = await registerSigner('test-key', { data });
});
afterAll(async () => {
  await hub.stop();
});

test('[C-LOCAL-04] [R12] whatever comes in by a header, an address, a body, a name or a call, no secret of it is logged', async () => {
  const token = signer.token({ agent: 'alice' });
  const json = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const asHeader = (text: string): string => text.replaceAll('\n', ' ');
  let calls = 0;
  const call = async (path: string, method: string, headers: Record<string, string>, body?: unknown) => {
    calls += 1;
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const reply = await send(`${hub.url}${path}`, {
      method,
      headers,
      ...(text === undefined ? {} : { body: text }),
    });
    return reply;
  };
  const { text: made } = await call('/v1/create_thread', 'POST', json, { title: 'a thread' });
  const { thread_id } = JSON.parse(made) as { thread_id: string };
  const session = await openLegacy(hub.url, token);

  for (const { text } of some()) {
    const word = asHeader(text);
    for (const headers of [{ authorization: word }, { authorization: `Bearer ${word}` }, { cookie: word }])
      await call('/v1/list_threads', 'POST', { ...json, ...headers }, {});
    for (const name of ['origin', 'user-agent', 'traceparent', 'content-type', 'x-request-id'])
      await call('/v1/list_threads', 'POST', { ...json, [name]: word }, {});
    await call(`/v1/threads?${encodeURI(word)}`, 'GET', json);
    await call(`/v1/threads?cursor=${encodeURIComponent(text)}`, 'GET', json);
    await call(`/nowhere/${encodeURI(word)}`, 'GET', json);
    await call(`/v1/${encodeURI(word)}`, 'POST', json, {});
  }
  for (const { text } of some()) {
    await call('/v1/get_thread', 'POST', json, { thread_id: text });
    await call('/v1/get_thread', 'POST', json, { [text]: text });
    await call('/v1/get_thread', 'POST', json, `{"thread_id": ${JSON.stringify(text)}`);
    await call('/v1/update_thread_status', 'POST', json, { thread_id, status: text, reason: text });
    await call('/v1/post_message', 'POST', json, {
      thread_id,
      schema_version: 1,
      body: text,
      kind: text,
      idempotency_key: text,
    });
    await modern(hub.url, token, 'tools/call', { name: asHeader(text), arguments: { text } });
    await session.request('tools/call', { name: 'get_thread', arguments: { thread_id: text, [text]: text } });
    await session.request(text, { text });
    await session.post(`{"half": ${JSON.stringify(text)}`);
    await dial(hub.url, 'alice', undefined, { query: `?token=${encodeURIComponent(text)}` }).catch(
      () => undefined,
    );
  }
  // What may be a name is one.
  for (const { text } of some().filter((canary) => /^[A-Za-z0-9._-]{8,100}$/.test(canary.text))) {
    const other = signer.token({ agent: text, workspace: text });
    await call('/v1/whoami', 'POST', { ...json, authorization: `Bearer ${other}` }, {});
    await call('/v1/create_thread', 'POST', { ...json, authorization: `Bearer ${other}` }, { title: text });
  }
  await call('/v1/summarize_thread', 'POST', json, { thread_id });
  await session.delete();

  await vi.waitFor(() => expect(parseLog(hub.stderr()).length).toBeGreaterThan(calls), 10_000);
  await vi.waitFor(() => expect(hub.stderr()).toContain('summary model not used'), 10_000);
  expect(hub.stderr().match(/\[redacted\]/g)?.length).toBeGreaterThan(50);
  expect(leaked(hub.stderr(), known)).toEqual([]);
  const { text: metrics } = await call('/metrics', 'GET', {
    authorization: `Bearer ${signer.token({ agent: 'root', role: 'operator', workspace: 'default' })}`,
  });
  expect(metrics).toContain('parley_');
  expect(leaked(metrics, known)).toEqual([]);
}, 120_000);
