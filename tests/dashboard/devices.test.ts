import { createClient } from '@parley/client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { runCli, runJson } from '../harness/run-cli.ts';
import { type Reply, send, type SendOptions } from '../harness/send.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';

const ORIGIN = 'https://desk.example';

let hub: HubProcess;
beforeAll(async () => {
  const settings = {
    'http.allowed_hosts': '["desk.example"]',
    'http.allowed_origins': `["${ORIGIN}"]`,
    'auth.recheck_ms': 100,
  };
  hub = await startHub({ data: freshFolder(), settings });
});
afterAll(async () => {
  expect(await hub.stop()).toBe(0);
});

interface Paired {
  code: string;
  key: string;
  link: string;
}

/** An invitation as a person at the machine makes it. */
const pairByCommand = (...flags: string[]): Promise<Paired> =>
  runJson(['pair', ...flags], { data: hub.data });

/** The same, by the operation behind the command. */
async function pairAt(at: HubProcess): Promise<{ code: string; key: string }> {
  const { token } = await issueToken({ agent: 'kim', workspace: 'default', role: 'operator' }, at);
  return createClient({ url: at.url, token }).pair_device();
}

const pair = () => pairAt(hub);

/** What the hub's own page sends. */
const own = (): Record<string, string> => ({ origin: hub.url, 'sec-fetch-site': 'same-origin' });

function signIn(word: string, headers = own()): Promise<Reply> {
  const body = JSON.stringify({ word, name: 'Test browser' });
  return send(`${hub.url}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

const cookieOf = (reply: Reply): string => reply.headers['set-cookie']?.[0]?.split(';')[0] ?? '';

async function device(...flags: string[]): Promise<string> {
  const { key } = flags.length === 0 ? await pair() : await pairByCommand(...flags);
  const reply = await signIn(key);
  expect(reply.status, reply.text).toBe(201);
  return cookieOf(reply);
}

function ask(path: string, cookie: string, options: SendOptions = {}): Promise<Reply> {
  return send(`${hub.url}${path}`, {
    ...options,
    headers: { cookie, 'sec-fetch-site': 'same-origin', ...options.headers },
  });
}

function callAs(
  cookie: string,
  operation: string,
  input: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  return ask(`/v1/${operation}`, cookie, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: hub.url, ...headers },
    body: JSON.stringify(input),
  });
}

test('[C-LOCAL-05] every page and file carries the headers that keep it to itself', async () => {
  const page = await send(`${hub.url}/`);
  expect(page.status).toBe(200);
  const assets = [...page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(assets.length).toBeGreaterThan(4);
  expect(page.text).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
  for (const path of ['/', '/now', '/t/th_1/4', '/agents/x', '/sw.js', ...assets]) {
    const { status, headers } = await send(`${hub.url}${path}`);
    expect([path, status]).toEqual([path, 200]);
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toContain('unsafe');
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'x-frame-options': 'DENY',
    });
  }
});

test('[C-LOCAL-05] a browser that says nothing of where it is but its page is let in from our page alone', async () => {
  const cookie = cookieOf(await signIn((await pair()).key));
  const asked = async (referer: string | undefined): Promise<number> =>
    (await send(`${hub.url}/session`, { headers: { cookie, ...(referer === undefined ? {} : { referer }) } }))
      .status;
  expect(await asked(`${hub.url}/threads`)).toBe(200);
  for (const page of [
    undefined,
    '',
    'http://127.0.0.1:1/',
    `http://evil.example/?${hub.url}/`,
    hub.url.slice(7),
  ])
    expect([page, await asked(page)]).toEqual([page, 403]);
});

test('[C-LOCAL-05] cookies are HttpOnly and SameSite=Strict, and behind TLS __Host- and Secure', async () => {
  const plain = await signIn((await pair()).key);
  expect(plain.headers['set-cookie']?.[0]).toMatch(
    /^parley-\d+=[\w.-]+; HttpOnly; SameSite=Strict; Path=\/; Max-Age=2592000$/,
  );
  const secure = await signIn((await pair()).key, {
    origin: ORIGIN,
    host: 'desk.example',
    'sec-fetch-site': 'same-origin',
  });
  expect(secure.headers['set-cookie']?.[0]).toMatch(
    /^__Host-parley-\d+=[\w.-]+; Secure; HttpOnly; SameSite=Strict; Path=\//,
  );
  const cookie = cookieOf(secure);
  const who = await send(`${hub.url}/session`, {
    headers: { cookie, host: 'desk.example', 'sec-fetch-site': 'same-origin' },
  });
  expect(JSON.parse(who.text)).toMatchObject({ device_name: 'Test browser', read_only: false });
});

test('a file is sent packed, kept for ever by its name, and not sent again when unchanged', async () => {
  const { text } = await send(`${hub.url}/`);
  const script = /src="(\/main-[A-Z0-9]{8}\.js)"/.exec(text)?.[1] ?? '';
  const packed = await send(`${hub.url}${script}`, { headers: { 'accept-encoding': 'gzip' } });
  expect(packed.headers).toMatchObject({
    'content-encoding': 'gzip',
    'cache-control': 'public, max-age=31536000, immutable',
  });
  const { etag = '' } = packed.headers;
  const again = await send(`${hub.url}${script}`, { headers: { 'if-none-match': etag } });
  expect([again.status, again.text]).toEqual([304, '']);
  expect((await send(`${hub.url}/`)).headers['cache-control']).toBe('no-cache');
  expect((await send(`${hub.url}/`, { method: 'POST' })).status).toBe(405);
  expect((await send(`${hub.url}/nothing.js`)).status).toBe(404);
});

test('a link and a code are good once; what is wrong or used is refused in words', async () => {
  const { key, code, link } = await pairByCommand();
  expect(link).toBe(`${ORIGIN}/#k=${key}`);
  expect((await signIn(code.toLowerCase().replace('-', ' '))).status).toBe(201);
  for (const word of [code, key, 'XXXX-XXXX']) {
    const reply = await signIn(word);
    expect(reply.status).toBe(401);
    expect(reply.headers['set-cookie']).toBeUndefined();
    expect(JSON.parse(reply.text)).toMatchObject({ error: { code: 'UNAUTHORIZED' } });
  }
  expect((await signIn('')).status).toBe(400);
  const once = await Promise.all(Array.from({ length: 8 }, async () => signIn((await pairOnce()).key)));
  expect(once.filter(({ status }) => status === 201)).toHaveLength(1);
});

let shared: ReturnType<typeof pair> | undefined;
const pairOnce = () => (shared ??= pair());

test('[C-LOCAL-06] a cookie counts only for requests of the hub’s own pages', async () => {
  const cookie = await device();
  expect((await callAs(cookie, 'list_agents', {})).status).toBe(200);
  expect((await ask('/v1/threads', cookie)).status).toBe(200);
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'none' },
    { origin: 'https://evil.example' },
    { origin: 'http://127.0.0.1:1' },
    { origin: ORIGIN },
    { origin: 'null' },
  ]) {
    const reply = await callAs(cookie, 'create_thread', { title: 'forged' }, { ...headers });
    expect([headers, reply.status]).toEqual([headers, 403]);
    expect(
      (await send(`${hub.url}/session`, { method: 'DELETE', headers: { cookie, ...own(), ...headers } }))
        .status,
    ).toBe(403);
  }
  // Neither header: no browser that we know of sent it.
  expect((await send(`${hub.url}/v1/threads`, { headers: { cookie } })).status).toBe(403);
  expect(JSON.parse((await ask('/v1/threads', cookie)).text)).toMatchObject({ threads: [] });
  // Agents bring tokens: MCP takes no cookies.
  const mcp = {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      origin: hub.url,
    },
    body: '{}',
  };
  expect((await ask('/mcp', cookie, mcp)).status).toBe(401);
});

function handshake(headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${hub.url.replace('http', 'ws')}/ws?version=1.0`, { headers });
    socket.once('open', () => {
      socket.close();
      resolve(101);
    });
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.once('error', reject);
  });
}

test('[C-LOCAL-06] the WebSocket takes the cookie of its own page and of no other', async () => {
  const cookie = await device();
  expect(await handshake({ cookie, origin: hub.url })).toBe(101);
  expect(await handshake({ cookie, origin: 'https://evil.example' })).toBe(403);
  expect(await handshake({ cookie, origin: ORIGIN })).toBe(403);
  expect(await handshake({ cookie })).toBe(403);
  expect(await handshake({ cookie: cookie.replace(/.$/, 'x'), origin: hub.url })).toBe(401);
  expect(await handshake({})).toBe(401);
});

test('a device that only looks sees everything and changes nothing', async () => {
  const steering = await device();
  const thread = JSON.parse((await callAs(steering, 'create_thread', { title: 'to look at' })).text) as {
    thread_id: string;
  };
  const looking = await device('--read-only', '--name', 'Wall tablet');
  expect(JSON.parse((await ask('/session', looking)).text)).toMatchObject({
    device_name: 'Wall tablet',
    read_only: true,
  });
  expect((await ask(`/v1/threads/${thread.thread_id}`, looking)).status).toBe(200);
  for (const [operation, input] of [
    ['post_message', { ...thread, schema_version: 1, body: 'no' }],
    ['ack_read', { ...thread, last_read_seq: 0 }],
    ['answer_ask', { ask_id: 'ask_0', decision: 'approved' }],
    ['pair_device', {}],
    ['revoke_device', { device_id: 'x-1' }],
    ['command_agent', { of_agent: 'x', command: 'stop' }],
    ['set_presence', { ...thread, state: 'typing' }],
  ] as const) {
    const reply = await callAs(looking, operation, input);
    expect([operation, reply.status]).toEqual([operation, 403]);
    expect(reply.text).toContain('may only look');
  }
  expect(
    (await send(`${hub.url}/session`, { method: 'DELETE', headers: { cookie: looking, ...own() } })).status,
  ).toBe(200);
  expect((await ask('/session', looking)).status).toBe(401);
});

test('a revoked device is out at once, with its open stream', async () => {
  const cookie = await device('--name', 'Lost phone');
  const { devices } = await runJson<{ devices: { device_id: string; name: string }[] }>(['device', 'ls'], {
    data: hub.data,
  });
  const lost = devices.find(({ name }) => name === 'Lost phone')?.device_id ?? '';
  expect(lost).toMatch(/^lost-phone-[0-9a-f]{8}$/);
  const stream = send(`${hub.url}/v1/stream`, {
    headers: { cookie, 'sec-fetch-site': 'same-origin', accept: 'text/event-stream' },
  });
  await vi.waitFor(async () => expect((await ask('/session', cookie)).status).toBe(200), 20_000);
  expect((await runCli(['device', 'revoke', lost], { data: hub.data })).code).toBe(0);
  await stream;
  await vi.waitFor(async () => expect((await ask('/session', cookie)).status).toBe(401), 60_000);
  const left = await runJson<{ devices: { device_id: string }[] }>(['device', 'ls'], { data: hub.data });
  expect(left.devices.map(({ device_id }) => device_id)).not.toContain(lost);
  expect((await runCli(['device', 'revoke', 'nobody-1'], { data: hub.data })).code).toBe(3);
});

test('[C-LOCAL-07] nothing that lets anyone in stands in the hub’s log or in its answers', async () => {
  const { key, code } = await pair();
  const cookie = cookieOf(await signIn(key));
  const secret = cookie.split('.')[1] ?? '';
  expect(secret.length).toBeGreaterThan(40);
  const answers = await Promise.all(
    ['/session', '/v1/devices', '/v1/hub', '/v1/log'].map(async (path) => (await ask(path, cookie)).text),
  );
  for (const word of [key, code, secret, 'secret_hash']) expect(answers.join('')).not.toContain(word);
  for (const word of [key, code, secret]) expect(hub.stderr()).not.toContain(word);
});

test('a device outlives a restart of the hub, an invitation does not', async () => {
  const data = freshFolder();
  const first = await startHub({ data });
  const { key } = await pairAt(first);
  const used = await pairAt(first);
  const headers = { 'content-type': 'application/json', origin: first.url };
  const cookie = cookieOf(
    await send(`${first.url}/session`, { method: 'POST', headers, body: JSON.stringify({ word: used.key }) }),
  );
  await first.stop();
  const port = new URL(first.url).port;
  const second = await startHub({ data, flags: ['--port', port] });
  expect(
    (await send(`${second.url}/session`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } })).status,
  ).toBe(200);
  const late = await send(`${second.url}/session`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ word: key }),
  });
  expect(late.status).toBe(401);
  await second.stop();
});
