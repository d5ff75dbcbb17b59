import { createHmac, createPublicKey, verify } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { type Client, createClient } from '@parley/client';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';

import { parley, parleyJson } from '../cli/parley.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { onPostgres } from '../harness/store-profile.ts';
import { issueToken, registerSigner, type Signer } from '../harness/tokens.ts';
import { subscribeAsBrowser } from './browser-keys.ts';
import { openReceiver, type Receiver } from './receiver.ts';

const PATIENCE_MS = 60_000;
vi.setConfig({ testTimeout: 3 * PATIENCE_MS, hookTimeout: 3 * PATIENCE_MS });

const data = freshFolder();
let receiver: Receiver;
let stranger: Receiver;
let hub: HubProcess;
let signer: Signer;

const settings = (): Record<string, string | number> => ({
  'notify.allowed_hosts': JSON.stringify([receiver.host]),
  'notify.retry_ms': 50,
  'notify.grace_ms': 0,
  'notify.look_ms': 100,
  'log.level': 'trace',
});

const start = async (): Promise<void> => {
  hub = await startHub({ data, settings: settings() });
};

const as = (agent: string, role = 'worker'): Client =>
  createClient({
    url: hub.url,
    token: signer.token({ agent, workspace: 'w1', role, session: `${agent}-1` }),
  });
const kim = (): Client => as('kim', 'operator');

beforeAll(async () => {
  [receiver, stranger] = await Promise.all([openReceiver(), openReceiver()]);
  await start();
  signer = await registerSigner('notify', { data });
});
afterAll(async () => {
  await hub.stop();
  await Promise.all([receiver.close(), stranger.close()]);
});
beforeEach(async () => {
  receiver.answer(200);
  for (const { channel_id } of (await kim().list_channels({})).channels)
    await kim().remove_channel({ channel_id });
  receiver.received.length = 0;
});

const arrived = (count: number): Promise<void> =>
  vi.waitFor(() => expect(receiver.received.length).toBeGreaterThanOrEqual(count), PATIENCE_MS);

const json = (at: number): Record<string, unknown> =>
  JSON.parse(receiver.received[at]?.body.toString('utf8') ?? 'null') as Record<string, unknown>;

test('a webhook gets who, what and a way to it, signed with a secret that is shown once', async () => {
  const { channel, secret = '' } = await kim().add_channel({
    name: 'hook',
    kind: 'webhook',
    target: { url: `${receiver.url}/hook?key=canary-in-address` },
  });
  const { ask } = await as('builder').raise_ask({
    kind: 'approval',
    prompt: 'Rewrites a branch.',
    command: 'git push --force',
    cwd: '~/src/app',
    risk: 'high',
  });
  await arrived(1);
  const { headers, body, path } = receiver.received[0] ?? { headers: {}, body: Buffer.alloc(0), path: '' };
  expect(path).toBe('/hook?key=canary-in-address');
  expect(json(0)).toMatchObject({
    kind: 'ask',
    title: 'builder · ~/src/app',
    body: 'git push --force\nRewrites a branch.',
    url: `${hub.url}/asks/${ask.ask_id}`,
    urgency: 'high',
    ask_id: ask.ask_id,
    agent_id: 'builder',
    workspace_id: 'w1',
  });
  const signed = `${String(headers['parley-timestamp'])}.${body.toString('utf8')}`;
  expect(headers['parley-signature']).toBe(
    `sha256=${createHmac('sha256', secret).update(signed).digest('hex')}`,
  );
  await vi.waitFor(async () => {
    const [shown] = (await kim().list_channels({})).channels;
    expect(shown).toMatchObject({ channel_id: channel.channel_id, host: receiver.host });
    expect(shown?.last_sent_at).toBeDefined();
  }, PATIENCE_MS);
  for (const hidden of ['canary-in-address', secret]) {
    expect(JSON.stringify(await kim().list_channels({}))).not.toContain(hidden);
    expect(hub.stderr()).not.toContain(hidden);
  }
});

test('an ntfy topic gets a message with a deep link; its token goes in a header and nowhere else', async () => {
  await kim().add_channel({
    name: 'phone',
    kind: 'ntfy',
    target: { url: `${receiver.url}/canary-topic`, token: 'canary-token' },
  });
  const { thread_id } = await as('planner').create_thread({ title: 'Plans', participants: ['kim'] });
  await as('planner').post_message({ thread_id, schema_version: 1, body: '@kim which of the two?' });
  await arrived(1);
  expect(receiver.received[0]).toMatchObject({
    path: '/',
    headers: { authorization: 'Bearer canary-token' },
  });
  expect(json(0)).toMatchObject({
    topic: 'canary-topic',
    title: 'planner in Plans',
    message: '@kim which of the two?',
    click: `${hub.url}/t/${thread_id}/1`,
  });
  for (const hidden of ['canary-token', 'canary-topic']) {
    expect(hub.stderr()).not.toContain(hidden);
    expect(JSON.stringify(await kim().list_channels({}))).not.toContain(hidden);
  }
});

test('a push is sealed for its browser alone, signed by the keys of the hub, in the declarative form', async () => {
  const browser = subscribeAsBrowser();
  const { p256dh, auth } = browser;
  const target = { url: `${receiver.url}/push/canary-endpoint`, p256dh, auth };
  const first = await kim().add_channel({ name: 'iPad', kind: 'push', target });
  // A browser that subscribes again is told once.
  const again = await kim().add_channel({ name: 'iPad', kind: 'push', target });
  const { channels, push_key } = await kim().list_channels({});
  expect(channels.map(({ channel_id }) => channel_id)).toEqual([again.channel.channel_id]);
  expect(channels).not.toContain(first.channel.channel_id);
  const { ask } = await as('asker').raise_ask({ kind: 'question', prompt: 'Größe: 10 € oder 12 €?' });
  await arrived(1);
  const { headers, body } = receiver.received[0] ?? { headers: {}, body: Buffer.alloc(0) };
  expect(headers).toMatchObject({
    'content-encoding': 'aes128gcm',
    urgency: 'normal',
    topic: ask.ask_id.slice(-32),
  });
  const message = JSON.parse(browser.decrypt(body)) as { app_badge: number };
  expect(message).toMatchObject({
    web_push: 8030,
    notification: {
      title: 'asker',
      body: 'Größe: 10 € oder 12 €?',
      navigate: `${hub.url}/asks/${ask.ask_id}`,
      tag: ask.ask_id,
      data: { kind: 'ask', ask_id: ask.ask_id },
    },
  });
  expect(message.app_badge).toBeGreaterThan(0);
  const [, token = '', key = ''] =
    /^vapid t=([\w.-]+), k=([\w-]+)$/.exec(String(headers.authorization)) ?? [];
  expect(key).toBe(push_key);
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(key, 'base64url');
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  );
  expect(isSigned).toBe(true);
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ aud: receiver.url });
  if (!onPostgres) expect(statSync(join(data, 'push.json')).mode & 0o777).toBe(0o600);
  expect(hub.stderr()).not.toContain('canary-endpoint');
  // The browser has taken its subscription back.
  receiver.answer(410);
  await as('asker').raise_ask({ prompt: 'one more?' });
  await vi.waitFor(async () => expect((await kim().list_channels({})).channels).toEqual([]), PATIENCE_MS);
});

test('what could not be sent is tried again, also after the hub was killed, and told once', async () => {
  await kim().add_channel({ name: 'hook', kind: 'webhook', target: { url: `${receiver.url}/late` } });
  const keys = readFileSync(join(data, 'push.json'), 'utf8');
  receiver.answer(503);
  const { ask } = await as('waiter').raise_ask({ prompt: 'Are you there?', expires_in_ms: 600_000 });
  await arrived(2);
  await hub.kill();
  receiver.received.length = 0;
  receiver.answer(200);
  await start();
  await arrived(1);
  expect(json(0)).toMatchObject({ ask_id: ask.ask_id });
  const id = json(0)['id'];
  await vi.waitFor(
    async () => expect((await kim().list_channels({})).channels[0]?.last_sent_at).toBeDefined(),
    PATIENCE_MS,
  );
  await hub.stop();
  await start();
  const { ask: next } = await as('waiter').raise_ask({ prompt: 'And now?' });
  await vi.waitFor(
    () =>
      expect(receiver.received.map(({ body }) => body.toString())).toContainEqual(
        expect.stringContaining(next.ask_id),
      ),
    PATIENCE_MS,
  );
  expect(receiver.received.filter(({ body }) => body.toString().includes(String(id)))).toHaveLength(1);
  // Browsers are subscribed to these keys: they stay.
  expect(readFileSync(join(data, 'push.json'), 'utf8')).toBe(keys);
});

test('[C-LOCAL-09] nothing goes to private addresses that nobody allowed, and no redirect is followed', async () => {
  const { port } = new URL(stranger.url);
  const addresses = [
    `http://127.0.0.1:${port}/x`,
    `https://127.0.0.1:${port}/x`,
    `https://2130706433:${port}/x`,
    `https://0177.0.0.1:${port}/x`,
    `https://localhost:${port}/x`,
    `https://localhost.:${port}/x`,
    `https://[::1]:${port}/x`,
    `https://[::ffff:127.0.0.1]:${port}/x`,
    `https://[64:ff9b::7f00:1]:${port}/x`,
    `https://[2002:7f00:1::]:${port}/x`,
    `https://[fec0::1]:${port}/x`,
  ];
  const { p256dh, auth } = subscribeAsBrowser();
  for (const kind of ['webhook', 'ntfy', 'push'] as const)
    for (const url of addresses) {
      const target = kind === 'push' ? { url, p256dh, auth } : { url };
      await expect(kim().add_channel({ name: 'x', kind, target }), `${kind} ${url}`).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'target.url' },
      });
    }
  expect((await kim().list_channels({})).channels).toEqual([]);
  for (const url of ['file:///etc/passwd', `https://user:word@example.com/`, 'gopher://example.com/', 'hook'])
    await expect(kim().add_channel({ name: 'x', kind: 'webhook', target: { url } })).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
    });
  receiver.answer(307, { location: `${stranger.url}/stolen` });
  const { channel } = await kim().add_channel({
    name: 'x',
    kind: 'webhook',
    target: { url: `${receiver.url}/moved` },
  });
  expect(await kim().test_channel({ channel_id: channel.channel_id })).toEqual({
    sent: false,
    why: 'it answered 307: redirects are not followed',
  });
  // What was allowed when it was added is refused once it no longer is.
  const { channel_id } = channel;
  await hub.stop();
  hub = await startHub({ data, settings: { ...settings(), 'notify.allowed_hosts': '[]' } });
  expect(await kim().test_channel({ channel_id })).toMatchObject({
    sent: false,
    why: expect.stringContaining('not sent'),
  });
  await hub.stop();
  await start();
  expect(stranger.received).toEqual([]);
});

test('parley notify adds, lists, changes, tries and removes; the address comes on stdin', async () => {
  const base = ['--data', data, '--as', 'kim', '--role', 'operator', '--workspace', 'w1'];
  const { channel } = await parleyJson<{ channel: { channel_id: string } }>(
    [
      'notify',
      'add',
      'ntfy',
      '--name',
      'my phone',
      '--want',
      'ask,trouble',
      '--quiet-hours',
      '22:00-07:00',
      ...base,
    ],
    { input: `${receiver.url}/my-topic\n` },
  );
  const { channel_id } = channel;
  const listed = await parley(['notify', 'ls', ...base]);
  expect(listed.stdout).toContain(channel_id);
  expect(listed.stdout).toContain('quiet 22:00-07:00');
  expect(listed.stdout).not.toContain('my-topic');
  expect((await parley(['notify', 'test', channel_id, ...base])).stdout).toBe('sent\n');
  await arrived(1);
  const changed = await parleyJson<{ channel: object }>([
    'notify',
    'set',
    channel_id,
    '--loud',
    '--want',
    'mention',
    '--pause',
    ...base,
  ]);
  expect(changed.channel).toMatchObject({ wants: ['mention'], paused: true });
  expect(changed.channel).not.toHaveProperty('quiet');
  receiver.answer(403);
  const refused = await parley(['notify', 'test', channel_id, ...base]);
  expect(refused).toMatchObject({ code: 1, stdout: 'not sent: it answered 403\n' });
  expect((await parley(['notify', 'rm', channel_id, ...base])).code).toBe(0);
  const inside = await parley(['notify', 'add', 'webhook', ...base], { input: 'https://127.0.0.1/hook\n' });
  expect(inside).toMatchObject({ code: 2, stderr: expect.stringContaining('a private address') });
  const nothing = await parley(['notify', 'add', 'webhook', ...base]);
  expect(nothing.stderr).toContain('give the address on stdin');
});

test('a channel ends with the token that set it up, and that of a browser with its device', async () => {
  const issued = await issueToken({ agent: 'kim', workspace: 'w1', role: 'operator' }, { data });
  await createClient({ url: hub.url, token: issued.token }).add_channel({
    name: 'lost',
    kind: 'webhook',
    target: { url: `${receiver.url}/lost` },
  });
  const { key } = await kim().pair_device();
  const headers = { 'content-type': 'application/json', origin: hub.url };
  const signedIn = await fetch(`${hub.url}/session`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ word: key }),
  });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const { p256dh, auth } = subscribeAsBrowser();
  const push = { name: 'phone', kind: 'push', target: { url: `${receiver.url}/push`, p256dh, auth } };
  const added = await fetch(`${hub.url}/v1/add_channel`, {
    method: 'POST',
    headers: { ...headers, cookie },
    body: JSON.stringify(push),
  });
  expect(added.status).toBe(200);
  await kim().add_channel({ name: 'kept', kind: 'webhook', target: { url: `${receiver.url}/kept` } });
  const paths = (): string[] => receiver.received.map(({ path }) => path).toSorted();
  await as('builder').raise_ask({ prompt: 'first' });
  await arrived(3);
  expect(paths()).toEqual(['/kept', '/lost', '/push']);

  await parleyJson(['token', 'revoke', issued.jti, '--data', data]);
  const { status } = await fetch(`${hub.url}/session`, { method: 'DELETE', headers: { ...headers, cookie } });
  expect(status).toBe(200);
  receiver.received.length = 0;
  await as('builder').raise_ask({ prompt: 'second' });
  await vi.waitFor(async () => {
    const { channels } = await kim().list_channels({});
    const failures = Object.fromEntries(channels.map((one) => [one.name, one.last_failure?.why]));
    const lost = 'the token behind it was revoked, its key retired, or the person signed out';
    expect(failures).toEqual({ kept: undefined, lost });
  }, PATIENCE_MS);
  await arrived(1);
  expect(paths()).toEqual(['/kept']);
});

test('an export tells of channels and devices, and leaves out what is secret in them', async () => {
  const { key } = await kim().pair_device();
  const headers = { 'content-type': 'application/json', origin: hub.url };
  await fetch(`${hub.url}/session`, { method: 'POST', headers, body: JSON.stringify({ word: key }) });
  const { p256dh, auth } = subscribeAsBrowser();
  const { secret = '' } = await kim().add_channel({
    name: 'hook',
    kind: 'webhook',
    target: { url: `${receiver.url}/hook?key=canary-webhook` },
    idempotency_key: 'export-hook',
  });
  await kim().add_channel({
    name: 'topic',
    kind: 'ntfy',
    target: { url: `${receiver.url}/canary-topic`, token: 'canary-token' },
  });
  await kim().add_channel({
    name: 'browser',
    kind: 'push',
    target: { url: `${receiver.url}/canary-push`, p256dh, auth },
  });
  const { stdout, code } = await parley(['export', '--data', data]);
  expect(code).toBe(0);
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map(
      (line) => JSON.parse(line) as { channel?: Record<string, unknown>; device?: Record<string, unknown> },
    );
  const channels = lines.flatMap(({ channel }) => (channel === undefined ? [] : [channel]));
  expect(channels.map(({ name, host }) => [name, host])).toEqual(
    expect.arrayContaining([
      ['hook', receiver.host],
      ['topic', receiver.host],
      ['browser', receiver.host],
    ]),
  );
  expect(lines.some(({ device }) => device?.['agent_id'] === 'kim')).toBe(true);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  for (const word of [secret, 'canary-', p256dh, auth, 'secret_hash']) expect(stdout).not.toContain(word);
});
