import { afterAll, beforeAll, expect, test } from 'vitest';

import { MIGRATIONS } from '../../packages/store-postgres/src/schema.ts';
import { v1Driver } from '../harness/call.ts';
import { runCli } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { type HubProcess, HubRefused, startHub } from '../harness/start-hub.ts';
import { type NatsServer, startNats } from '../harness/start-nats.ts';
import { type PostgresServer, startPostgres } from '../harness/start-postgres.ts';
import { registerSigner } from '../harness/tokens.ts';
import { openStream } from '../harness/open-stream.ts';
import { succeeded } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { buildLater } from './build-later.ts';

const NOW = MIGRATIONS.length;
/** What every release may do: something new that those before it know nothing of. */
const ADDS =
  'ALTER TABLE threads ADD COLUMN later text;\n\nCREATE TABLE later_things (name text PRIMARY KEY);\n';
/** What those before it cannot live with. */
const BREAKS = 'ALTER TABLE threads RENAME COLUMN last_seq TO newest_seq;\n';

describeWith(['postgres', 'nats-server'], 'two releases of Parley over one database', () => {
  let postgres: PostgresServer;
  let nats: NatsServer;
  let token: string;
  const hubs: HubProcess[] = [];
  const acknowledged: { seq: number; body: string }[] = [];
  let thread_id: string;
  /** The next release. */
  let later: string;

  const start = async (program?: string): Promise<HubProcess> => {
    const flags = ['--store', postgres.url, '--nats', nats.url];
    const hub = await startHub({ flags, readyMs: 120_000, ...(program === undefined ? {} : { program }) });
    hubs.push(hub);
    return hub;
  };
  const post = async (hub: HubProcess, body: string) => {
    const input = { thread_id, schema_version: 1, body, idempotency_key: body };
    const { result, error } = await v1Driver.call(hub.url, token, 'post_message', input);
    if (result !== undefined) acknowledged.push({ seq: result.seq, body });
    return error;
  };
  const read = async (hub: HubProcess) => {
    const input = { thread_id, since_seq: 0, limit: 200 };
    const { result } = await v1Driver.call(hub.url, token, 'read_messages', input);
    return result?.messages.map(({ seq, body }) => ({ seq, body }));
  };
  const schema = async () =>
    (
      await postgres.query<{ version: number; oldest: number }>(
        'SELECT version, oldest FROM parley.parley_schema',
      )
    )[0];

  beforeAll(async () => {
    [postgres, nats, later] = await Promise.all([
      startPostgres(),
      startNats(),
      buildLater({ steps: [ADDS], oldest: NOW }),
    ]);
    const hub = await start();
    const signer = await registerSigner('k', { data: hub.data });
    token = signer.token({ agent: 'alice', role: 'operator' });
    const made = succeeded(await v1Driver.call(hub.url, token, 'create_thread', { title: 'x' }));
    ({ thread_id } = made);
    await hub.stop();
  }, 200_000);
  afterAll(async () => {
    await Promise.all(hubs.map(async (hub) => (hub.ended() ? undefined : hub.stop())));
    await nats.kill();
    await postgres.close();
  }, 120_000);

  test('[R1] [R2] [C-DUR-19] a node at a time: the older go on over the newer schema, write, follow and start again, and nothing is lost', async () => {
    const [a, b] = [await start(), await start()];
    const following = await openStream(a.url, token, thread_id);
    const enough = new AbortController();
    const errors: unknown[] = [];
    const writing = (async () => {
      for (let i = 0; !enough.signal.aborted; i++) {
        const error = await post(i % 2 === 0 ? a : b, `while ${i}`);
        if (error !== undefined) errors.push(error);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const first = await start(later);
    expect(await schema()).toEqual({ version: NOW + 1, oldest: NOW });
    enough.abort();
    await writing;
    expect(errors).toEqual([]);
    // Each sees what the other writes, at once and on the stream that was open before.
    for (const [i, hub] of [first, a, b, first].entries())
      expect(await post(hub, `both ${i}`)).toBeUndefined();
    for (const hub of [a, b, first]) expect(await read(hub)).toEqual(acknowledged);
    await expect
      .poll(() => following.messages().map(({ body }) => body))
      .toEqual(acknowledged.map(({ body }) => body));
    following.close();
    // An older node that must be started again in between may be, and takes nothing back.
    expect(await b.stop()).toBe(0);
    const again = await start();
    expect(await post(again, 'an older one again')).toBeUndefined();
    expect(await schema()).toEqual({ version: NOW + 1, oldest: NOW });
    for (const hub of [a, again]) expect(await hub.stop()).toBe(0);
    expect(await post(first, 'the newer alone')).toBeUndefined();
    expect(acknowledged.map(({ seq }) => seq)).toEqual(acknowledged.map((_, i) => i + 1));
    expect(await read(first)).toEqual(acknowledged);
    expect(await first.stop()).toBe(0);
  }, 400_000);

  test('[R8] [R12] a schema that the older cannot live with: they are told first and leave, and never answer wrongly', async () => {
    const breaking = await buildLater({ steps: [ADDS, BREAKS], oldest: NOW + 2 });
    const hub = await start(later);
    const ready = async () => (await send(`${hub.url}/readyz`)).status;
    expect(await ready()).toBe(200);
    const codes = new Set<string>();
    const enough = new AbortController();
    const asking = (async () => {
      while (!enough.signal.aborted) {
        const { error } = await v1Driver.call(hub.url, token, 'get_thread', { thread_id });
        codes.add(error?.code ?? 'answered');
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    // It does not become ready: this test's own schema breaks the newer program as well. What counts is who was told before.
    await start(breaking).catch(() => undefined);
    await expect.poll(ready, { timeout: 10_000 }).toBe(503);
    enough.abort();
    await asking;
    expect([...codes].toSorted()).toEqual(['UNAVAILABLE', 'answered']);
    const { error } = await v1Driver.call(hub.url, token, 'get_thread', { thread_id });
    expect(error).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('update this node'),
    });
    expect(await post(hub, 'too late')).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await schema()).toEqual({ version: NOW + 2, oldest: NOW + 2 });
    const refused = await start(later).catch((thrown: unknown) => thrown);
    expect(refused).toBeInstanceOf(HubRefused);
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('of a newer Parley') });
    expect((await runCli(['doctor', '--store', postgres.url], { data: hub.data })).code).not.toBe(0);
  }, 400_000);
});
