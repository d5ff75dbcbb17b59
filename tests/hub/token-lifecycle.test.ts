import { Agent } from 'node:http';

import { expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { openStream } from '../harness/open-stream.ts';
import { runJson } from '../harness/run-cli.ts';
import { issueByCommand, registerByCommand } from '../harness/tokens.ts';
import { refused, succeeded, useHub } from '../harness/use-hub.ts';

const scene = useHub();

/** What the case allows a stream to outlive its token. */
const CLOSED_WITHIN_MS = 5_000;

test('[HUB-A7] [C-AUTH-11] a revoked token is refused on the next call, and its open streams end', async () => {
  const { data, url } = scene.hub;
  const issued = await issueByCommand({ agent: 'alice' }, { data });
  const alice = scene.with('alice', issued.token);
  const other = scene.as('alice');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const thread_id = await alice.thread();
  succeeded(await alice.call('list_threads', {}, { agent }));
  const [stream, spared] = await Promise.all([
    openStream(url, alice.token, thread_id),
    openStream(url, other.token, thread_id),
  ]);
  await alice.say(thread_id, 'before');
  await expect.poll(() => stream.messages().map(({ body }) => body)).toEqual(['before']);

  await runJson(['token', 'revoke', issued.jti], { data });
  const revokedAt = Date.now();
  refused(await alice.call('list_threads', {}, { agent }), 'UNAUTHORIZED');
  for (const face of faces)
    await scene.with('alice', issued.token, face).refused('list_threads', {}, 'UNAUTHORIZED');
  await stream.ended;
  expect(Date.now() - revokedAt).toBeLessThan(CLOSED_WITHIN_MS);

  await other.say(thread_id, 'after');
  await expect.poll(() => spared.messages().map(({ body }) => body)).toEqual(['before', 'after']);
  expect(stream.text()).not.toContain('after');
  spared.close();
  agent.destroy();
});

test('[HUB-A7] [C-AUTH-12] keys overlap, and a retired one is refused from the very next request', async () => {
  const { data, url } = scene.hub;
  const older = await registerByCommand('older', { data });
  const before = scene.with('alice', older.token({ agent: 'alice' }));
  const thread_id = await before.thread();
  const newer = await registerByCommand('newer', { data });
  const after = scene.with('alice', newer.token({ agent: 'alice' }));
  await before.say(thread_id, 'old key');
  await after.say(thread_id, 'new key');
  const stream = await openStream(url, before.token, thread_id);

  await runJson(['key', 'retire', 'older'], { data });
  const retiredAt = Date.now();
  await before.refused('list_threads', {}, 'UNAUTHORIZED');
  const fresh = scene.with('alice', older.token({ agent: 'alice' }));
  await fresh.refused('list_threads', {}, 'UNAUTHORIZED');
  await after.say(thread_id, 'still there');
  await stream.ended;
  expect(Date.now() - retiredAt).toBeLessThan(CLOSED_WITHIN_MS);
});

test('[C-AUTH-12] the hub’s own key is replaced and retired without a restart', async () => {
  const { data } = scene.hub;
  const first = await issueByCommand({ agent: 'alice' }, { data });
  const old = scene.with('alice', first.token);
  await old.ok('list_threads', {});
  const kid = (token: string): string =>
    (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid;
  await runJson(['key', 'add'], { data });
  const second = await issueByCommand({ agent: 'alice' }, { data });
  expect(kid(second.token)).not.toBe(kid(first.token));
  // A name that began with a dash could not be given to the command line.
  expect(kid(first.token)).toMatch(/^key_/);
  const current = scene.with('alice', second.token);
  await old.ok('list_threads', {});
  await current.ok('list_threads', {});
  await runJson(['key', 'retire', kid(first.token)], { data });
  await old.refused('list_threads', {}, 'UNAUTHORIZED');
  await current.ok('list_threads', {});
});

test('[HUB-A1] a stream ends when its token expires', async () => {
  const now = Math.floor(Date.now() / 1_000);
  // The clock skew is 30 s: this token has two seconds left.
  const token = scene.signer.token({ agent: 'alice' }, { iat: now - 100, exp: now - 28 });
  const alice = scene.with('alice', token);
  const thread_id = await alice.thread();
  const stream = await openStream(scene.hub.url, token, thread_id);
  expect(stream.status).toBe(200);
  await stream.ended;
  await alice.refused('list_threads', {}, 'UNAUTHORIZED');
});

test('[C-AUTH-11] revocations made at the same time are all kept', async () => {
  const { data } = scene.hub;
  const tokens = Array.from({ length: 8 }, (_, i) => {
    const jti = `many-${i}`;
    return { jti, caller: scene.with('alice', scene.signer.token({ agent: 'alice' }, { jti })) };
  });
  for (const { caller } of tokens) await caller.ok('list_threads', {});
  await Promise.all(tokens.map(({ jti }) => runJson(['token', 'revoke', jti], { data })));
  for (const { caller } of tokens) await caller.refused('list_threads', {}, 'UNAUTHORIZED');
});
