import { fieldsOf, type OperationName } from '@parley/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { faces, v1Driver } from '../harness/call.ts';
import { everyEntry } from '../harness/every-call.ts';
import { otherRoutes } from '../harness/other-routes.ts';
import type { FaceDriver } from '../harness/face-driver.ts';
import { send } from '../harness/send.ts';
import { type HubProcess, startHub } from '../harness/start-hub.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { issueToken } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';
import { type FaultProxy, openFaultProxy } from '../nodes/fault-proxy.ts';
import { describeWith } from '../tools/describe-with.ts';
import { dial, refusal } from '../ws/live-client.ts';

/** What is answered from the memory of the node, for whoever may ask. */
const OF_MEMORY: readonly OperationName[] = [
  'pair_device',
  'get_slo',
  // The page that the examples name is not of this hub: that is refused before the record is looked at.
  'begin_passkey',
  'challenge_ask',
];

describeWith(['postgres'], 'every face while the database is away', () => {
  let server: PostgresServer;
  let proxy: FaultProxy;
  let hub: HubProcess;
  let token: string;
  let thread_id: string;
  let message_id: string;

  beforeAll(async () => {
    server = await startPostgres();
    const url = new URL(server.url);
    proxy = await openFaultProxy(Number(url.port));
    url.port = String(proxy.port);
    const quota = { 'quota.messages_per_minute': 1_000_000, 'quota.messages_burst': 100_000 };
    hub = await startHub({ flags: ['--store', url.href], settings: quota });
    ({ token } = await issueToken(
      { agent: 'op', role: 'operator', workspace: 'default' },
      { data: hub.data },
    ));
    const made = await v1Driver.call(hub.url, token, 'create_thread', { title: 'x', participants: ['bob'] });
    ({ thread_id } = succeeded(made));
    // A session of the older MCP stands before the database goes.
    for (const face of faces) succeeded(await face.call(hub.url, token, 'whoami', {}));
    const said = { thread_id, schema_version: 1, body: 'before' };
    ({ message_id } = succeeded(await v1Driver.call(hub.url, token, 'post_message', said)));
  }, 60_000);
  afterAll(async () => {
    proxy.onlyAbout();
    await hub.stop();
    proxy.close();
    await server.close();
  }, 60_000);

  const ready = async () => (await send(`${hub.url}/readyz`)).status;

  /** What an operation says on one face. */
  async function answerOn(face: FaceDriver, [operation, input]: [OperationName, unknown]) {
    const { error } = await face.call(hub.url, token, operation, input);
    // A refusal before any tool of MCP has what it says of itself beside its code.
    const wait = fieldsOf({ ...error, ...error?.details })['retry_after_ms'];
    return { face: face.name, operation, code: error?.code, wait };
  }

  async function everyRoute() {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const asked = otherRoutes(thread_id).map(async ({ method, path }) => {
      const body = method === 'POST' ? { body: '{}' } : {};
      const signal = AbortSignal.timeout(2_000);
      const answer = await send(`${hub.url}${path}`, { method, headers, signal, ...body }).catch(
        () => undefined,
      );
      return answer === undefined ? [] : [[`${method} ${path}`, answer.status, answer.text] as const];
    });
    return (await Promise.all(asked)).flat();
  }

  test('[R7] [R8] [C-DUR-13] gone: every operation and every route is UNAVAILABLE with the time to come again, and nothing is INTERNAL', async () => {
    await server.kill();
    await expect.poll(ready, { timeout: 10_000 }).toBe(503);
    const asked = faces.map(async (face) => {
      for (const entry of everyEntry(thread_id, message_id)) {
        const { code, wait, ...which } = await answerOn(face, entry);
        expect({ ...which, code, wait }).toEqual({
          ...which,
          code: 'UNAVAILABLE',
          wait: expect.any(Number),
        });
      }
    });
    await Promise.all(asked);
    for (const [path, status, text] of await everyRoute())
      expect([path, status, text]).toEqual([
        path,
        503,
        expect.stringMatching(/UNAVAILABLE|cannot be reached|retry/i),
      ]);
    const { status } = await refusal(dial(hub.url, 'op', token));
    expect(status).toBe(503);
    await server.start();
    await expect.poll(ready, { timeout: 10_000 }).toBe(200);
    succeeded(await v1Driver.call(hub.url, token, 'read_messages', { thread_id }));
  }, 120_000);

  test('[R7] [R8] [C-DUR-13] cut behind the door: whoever was let in and finds the record gone is told the same', async () => {
    // Tokens are still looked after; whatever else is asked ends the connection.
    proxy.onlyAbout('kept_files');
    const others: string[] = [];
    // How each face says it was seen above; what an operation does without its record is the same on all of them.
    for (const [i, entry] of [...everyEntry(thread_id, message_id)].entries()) {
      const driver = faces[i % faces.length] ?? v1Driver;
      const { face, operation, code, wait } = await answerOn(driver, entry);
      if (code === 'UNAVAILABLE')
        expect([face, operation, wait]).toEqual([face, operation, expect.any(Number)]);
      else if (!OF_MEMORY.includes(operation)) others.push(`${face} ${operation} ${code ?? 'ok'}`);
    }
    expect(others).toEqual([]);
    // Whose body says too little is told so without a look at the record; of bytes that is 422.
    for (const [path, status, text] of await everyRoute())
      if (status >= 500)
        expect([path, status, text]).toEqual([path, 503, expect.stringMatching(/UNAVAILABLE|retry/i)]);
      else
        expect([path, status]).toEqual([
          path,
          expect.toSatisfy((one: number) => one < 300 || one === 400 || one === 422),
        ]);
    proxy.onlyAbout();
    await expect.poll(ready, { timeout: 10_000 }).toBe(200);
    succeeded(await v1Driver.call(hub.url, token, 'read_messages', { thread_id }));
    expect(hub.stderr()).not.toContain('"code":"INTERNAL"');
  }, 180_000);
});
