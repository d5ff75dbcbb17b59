import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';

import { createVisitor, type Visitor } from '../harness/issuer-visit.ts';
import { runCli } from '../harness/run-cli.ts';
import { type Reply, send } from '../harness/send.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { oidcEnv, oidcSettings, startIssuer, type TestIssuer } from '../harness/start-issuer.ts';
import { onPostgres } from '../harness/store-profile.ts';
import { issueToken } from '../harness/tokens.ts';

let issuer: TestIssuer;
let hub: HubProcess;
beforeAll(async () => {
  issuer = await startIssuer();
  hub = await startHub({
    settings: { ...oidcSettings(issuer), 'quota.sign_ins_per_minute': 1_000 },
    env: oidcEnv(issuer),
  });
  issuer.serve(hub.url);
});
afterAll(async () => {
  expect(await hub.stop()).toBe(0);
});
beforeEach(() => {
  issuer.before(undefined);
  issuer.accounts.clear();
  issuer.accounts.set('u-ada', { preferred_username: 'ada', groups: ['staff'] });
  issuer.accounts.set('u-eve', { preferred_username: 'eve', groups: ['staff'] });
});

const whyOf = (reply: Reply): string | undefined => /^\/#why=(\w+)$/.exec(reply.headers.location ?? '')?.[1];

/** A refusal sends the person to the sign-in page with the reason, and gives no device. */
function expectRefused(reply: Reply, why: string): void {
  expect([reply.status, whyOf(reply)]).toEqual([303, why]);
  expect((reply.headers['set-cookie'] ?? []).filter((line) => !line.includes('Max-Age=0'))).toEqual([]);
}

const whoIs = (visitor: Visitor): Promise<Reply> =>
  visitor.get(`${hub.url}/session`, { 'sec-fetch-site': 'same-origin' });

async function signedIn(account = 'u-ada'): Promise<Visitor> {
  const visitor = createVisitor(issuer);
  const reply = await visitor.signIn(hub.url, account);
  expect([reply.status, reply.headers.location]).toEqual([303, '/']);
  expect((await whoIs(visitor)).status).toBe(200);
  return visitor;
}

test('the way to the issuer carries a challenge, a state and a nonce, and nothing of the secret', async () => {
  const visitor = createVisitor(issuer);
  const reply = await visitor.get(`${hub.url}/session/start`);
  const url = new URL(reply.headers.location ?? '');
  expect(url.origin).toBe(issuer.url);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    response_type: 'code',
    client_id: issuer.client.id,
    redirect_uri: `${hub.url}/session/return`,
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect(reply.headers['set-cookie']?.[0]).toMatch(
    /^parley-sign-in-\d+=[\w.-]+; HttpOnly; SameSite=Lax; Path=\/session; Max-Age=600$/,
  );
  for (const word of ['state', 'nonce'].map((name) => url.searchParams.get(name) ?? '-'))
    expect(reply.headers['set-cookie']?.join('')).not.toContain(word);
});

test('a return with another state, without a ticket, or with the ticket of another browser is refused', async () => {
  const visitor = createVisitor(issuer);
  const returned = await visitor.toReturn(`${hub.url}/session/start`, 'u-ada');
  const ticket = visitor.cookies(hub.url);
  const forged = new URL(returned);
  forged.searchParams.set('state', 'x'.repeat(43));
  expectRefused(await visitor.get(forged.href), 'stale');
  // Login CSRF: the attacker's own code in the victim's browser.
  const victim = createVisitor(issuer);
  expectRefused(await victim.get(returned), 'stale');
  await victim.get(`${hub.url}/session/start`);
  expectRefused(await victim.get(returned), 'stale');
  for (const bad of ['x', `${ticket.slice(0, -4)}AAAA`, ticket.replace(/=.*/, '=e30.e30.e30.e30.e30')]) {
    visitor.setCookies(hub.url, bad);
    expectRefused(await visitor.get(returned), 'stale');
  }
});

test('a code is good once', async () => {
  const visitor = createVisitor(issuer);
  const returned = await visitor.toReturn(`${hub.url}/session/start`, 'u-ada');
  const ticket = visitor.cookies(hub.url);
  expect((await visitor.get(returned)).headers.location).toBe('/');
  visitor.setCookies(hub.url, ticket);
  expectRefused(await visitor.get(returned), 'refused');
});

test('a return that names another issuer, or no code, is refused', async () => {
  const change = async (edit: (query: URLSearchParams) => void): Promise<Reply> => {
    const visitor = createVisitor(issuer);
    const url = new URL(await visitor.toReturn(`${hub.url}/session/start`, 'u-ada'));
    edit(url.searchParams);
    return visitor.get(url.href);
  };
  expectRefused(await change((query) => query.set('iss', 'https://evil.example')), 'refused');
  expectRefused(await change((query) => query.delete('iss')), 'refused');
  expectRefused(await change((query) => query.delete('code')), 'refused');
  expectRefused(await change((query) => query.append('code', 'second')), 'refused');
  expectRefused(
    await change((query) => {
      query.delete('code');
      query.set('error', 'access_denied');
    }),
    'cancelled',
  );
});

/** Lets the token endpoint answer with an ID token of the test's making. */
function withIdToken(make: (good: Record<string, unknown>) => Promise<string> | string): void {
  let nonce = '';
  issuer.before((request, response) => {
    const url = new URL(request.url ?? '/', issuer.url);
    if (url.pathname === '/auth') nonce = url.searchParams.get('nonce') ?? nonce;
    if (url.pathname !== '/token') return false;
    const now = Math.floor(Date.now() / 1_000);
    const good = { iss: issuer.url, aud: issuer.client.id, sub: 'u-ada', iat: now, exp: now + 60, nonce };
    void (async () => {
      const body = { access_token: 'x', token_type: 'Bearer', id_token: await make(good) };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    })();
    return true;
  });
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test.each<[string, Parameters<typeof withIdToken>[0]]>([
  ['alg none', (good) => `${part({ alg: 'none' })}.${part(good)}.`],
  ['another key', async (good) => issuer.sign(good, { key: (await otherKey()).privateKey })],
  [
    'alg confusion',
    async (good) => {
      const { SignJWT } = await import('jose');
      const jwks = (await (await fetch(`${issuer.url}/jwks`)).json()) as { keys: { n: string }[] };
      const shared = Buffer.from(JSON.stringify(jwks.keys[0]));
      return new SignJWT(good).setProtectedHeader({ alg: 'HS256' }).sign(shared);
    },
  ],
  ['HS256 with the client secret', hmacOf(() => issuer.client.secret)],
  ['another audience', (good) => issuer.sign({ ...good, aud: 'somebody-else' })],
  ['another issuer', (good) => issuer.sign({ ...good, iss: 'https://evil.example' })],
  ['expired', (good) => issuer.sign({ ...good, exp: (good['iat'] as number) - 3_600 })],
  ['another nonce', (good) => issuer.sign({ ...good, nonce: 'n'.repeat(43) })],
  ['no nonce', ({ nonce: _none, ...rest }) => issuer.sign(rest)],
])('an ID token that is not as it must be signs nobody in (%s)', async (_what, make) => {
  withIdToken(make);
  expectRefused(await createVisitor(issuer).signIn(hub.url, 'u-ada'), 'refused');
});

function hmacOf(secret: () => string): Parameters<typeof withIdToken>[0] {
  return async (good) => {
    const { SignJWT } = await import('jose');
    return new SignJWT(good).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret()));
  };
}

async function otherKey() {
  const { generateKeyPairSync } = await import('node:crypto');
  return generateKeyPairSync('rsa', { modulusLength: 2_048 });
}

test('the userinfo of another account is not taken for this one’s', async () => {
  issuer.before((request, response) => {
    if (request.url !== '/me') return false;
    const body = { sub: 'u-other', preferred_username: 'boss', groups: ['staff'] };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return true;
  });
  expectRefused(await createVisitor(issuer).signIn(hub.url, 'u-ada'), 'refused');
});

test.each([
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '/..//evil.example',
  'javascript:alert(1)',
  '/threads?x=1',
  '/threads#k=abc',
  `/${'a'.repeat(400)}`,
  '/a\r\nset-cookie: x=1',
])('whoever signs in is sent to the hub’s own pages and nowhere else (%j)', async (to) => {
  const visitor = createVisitor(issuer);
  const start = `${hub.url}/session/start?${new URLSearchParams({ to }).toString()}`;
  const reply = await visitor.get(await visitor.toReturn(start, 'u-ada'));
  expect(reply.headers.location).toBe('/');
});

test('a page that the person wanted is kept over the way', async () => {
  for (const to of ['/t/th_1/4', '/agents/kim%40x', '/know/0a-b/edit']) {
    const visitor = createVisitor(issuer);
    const start = `${hub.url}/session/start?${new URLSearchParams({ to }).toString()}`;
    expect((await visitor.get(await visitor.toReturn(start, 'u-ada'))).headers.location).toBe(to);
  }
});

test('a foreign page cannot begin a sign-in, and only GET does', async () => {
  const headers = { 'sec-fetch-site': 'cross-site' };
  expect((await send(`${hub.url}/session/start`, { headers })).status).toBe(403);
  expect((await send(`${hub.url}/session/start`, { method: 'POST' })).status).toBe(405);
  expect((await send(`${hub.url}/session/return`, { method: 'POST' })).status).toBe(405);
  expect((await send(`${hub.url}/session/ended`)).status).toBe(405);
});

test('the mapping takes the whole value, an address only when it is verified, and no borrowed property', async () => {
  const refused = [
    { preferred_username: 'f1', groups: ['staffers'] },
    { preferred_username: 'f2', groups: ['STAFF'] },
    { preferred_username: 'f3' },
    { preferred_username: 'f4', groups: [{ toString: 'staff' }] as never },
  ];
  for (const [i, account] of refused.entries()) {
    issuer.accounts.set(`u-f${i}`, account);
    expectRefused(await createVisitor(issuer).signIn(hub.url, `u-f${i}`), 'nobody');
  }
  for (const name of ['system', 'all', '-rf', 'a b', '../x', 'é']) {
    issuer.accounts.set('u-bad', { preferred_username: name, groups: ['staff'] });
    expectRefused(await createVisitor(issuer).signIn(hub.url, 'u-bad'), 'nameless');
  }
});

test('a name that is somebody’s here stays theirs: another account’s, an agent’s, a local person’s', async () => {
  await signedIn('u-ada');
  issuer.accounts.set('u-2', { preferred_username: 'ada', groups: ['staff'] });
  expectRefused(await createVisitor(issuer).signIn(hub.url, 'u-2'), 'taken');
  const { token } = await issueToken({ agent: 'builder' }, hub);
  const beat = await send(`${hub.url}/v1/heartbeat_session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ runtime: 'test' }),
  });
  expect(beat.status, beat.text).toBe(200);
  issuer.accounts.set('u-2', { preferred_username: 'builder', groups: ['staff'] });
  expectRefused(await createVisitor(issuer).signIn(hub.url, 'u-2'), 'taken');
  // Renamed at the issuer, the account has a new name here, and its old one is still nobody else's.
  issuer.accounts.set('u-ada', { preferred_username: 'ada-2', groups: ['staff'] });
  await signedIn('u-ada');
  issuer.accounts.set('u-2', { preferred_username: 'ada', groups: ['staff'] });
  expectRefused(await createVisitor(issuer).signIn(hub.url, 'u-2'), 'taken');
});

const notice = async (claims: Record<string, unknown> = {}): Promise<string> => {
  const now = Math.floor(Date.now() / 1_000);
  return issuer.sign(
    {
      iss: issuer.url,
      aud: issuer.client.id,
      sub: 'u-ada',
      iat: now,
      exp: now + 120,
      jti: `j-${Math.random()}`,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      ...claims,
    },
    { header: { typ: 'logout+jwt' } },
  );
};

const tell = (token: string, headers: Record<string, string> = {}): Promise<Reply> =>
  send(`${hub.url}/session/ended`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams({ logout_token: token }).toString(),
  });

test('a notice of the issuer ends the devices of its account, once, and of no other', async () => {
  const [ada, eve] = [await signedIn('u-ada'), await signedIn('u-eve')];
  const good = await notice();
  expect((await tell(good)).status).toBe(200);
  expect((await whoIs(ada)).status).toBe(401);
  expect((await whoIs(eve)).status).toBe(200);
  const again = await signedIn('u-ada');
  expect((await tell(good)).status).toBe(400);
  const now = Math.floor(Date.now() / 1_000);
  for (const bad of [
    await notice({ aud: 'somebody-else' }),
    await notice({ iss: 'https://evil.example' }),
    await notice({ events: {} }),
    await notice({ events: undefined }),
    await notice({ nonce: 'n' }),
    await notice({ sub: undefined }),
    await notice({ jti: undefined }),
    await notice({ iat: now - 3_600, exp: now + 60 }),
    await notice({ exp: now - 3_600 }),
    `${part({ alg: 'none' })}.${part({ iss: issuer.url, aud: issuer.client.id, sub: 'u-ada' })}.`,
    'x.y.z',
    '',
  ])
    expect((await tell(bad)).status, bad).toBe(400);
  expect((await tell('x', { 'content-type': 'application/json' })).status).toBe(415);
  expect((await tell('x'.repeat(20_000))).status).toBe(413);
  expect((await whoIs(again)).status).toBe(200);
});

test('the session at the issuer ends, and it tells the hub by itself', async () => {
  const [ada, other] = [await signedIn('u-ada'), await signedIn('u-ada')];
  const page = await ada.get(`${issuer.url}/session/end`);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  await send(`${issuer.url}/session/end/confirm`, {
    method: 'POST',
    headers: { cookie: ada.cookies(issuer.url), 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ xsrf, logout: 'yes' }).toString(),
  });
  await vi.waitFor(async () => expect((await whoIs(other)).status).toBe(401), 10_000);
});

test('a device that a person paired ends with the person, and lives no longer than the sign-in', async () => {
  const ada = await signedIn('u-ada');
  const own = { cookie: ada.cookies(hub.url), origin: hub.url, 'content-type': 'application/json' };
  const paired = await send(`${hub.url}/v1/pair_device`, { method: 'POST', headers: own, body: '{}' });
  const { key } = JSON.parse(paired.text) as { key: string };
  const { cookie: _own, ...fresh } = own;
  const tablet = await send(`${hub.url}/session`, {
    method: 'POST',
    headers: fresh,
    body: JSON.stringify({ word: key }),
  });
  expect(tablet.status).toBe(201);
  const cookie = tablet.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const ask = (path: string): Promise<Reply> =>
    send(`${hub.url}${path}`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } });
  const { devices } = JSON.parse((await ask('/v1/devices')).text) as {
    devices: { this_one?: boolean; expires_at: string }[];
  };
  const ends = Date.parse(devices.find(({ this_one }) => this_one === true)?.expires_at ?? '');
  expect(ends).toBeLessThanOrEqual(Date.now() + 43_200_000);
  const left = await send(`${hub.url}/session`, { method: 'DELETE', headers: own });
  expect(left.status, left.text).toBe(200);
  expect((await ask('/session')).status).toBe(401);
});

test('after the time of a sign-in the issuer is asked again; a restart forgets nobody and lets nobody back in', async () => {
  const data = freshFolder();
  // Longer than a hub needs to start again, which three nodes need more for.
  const sessionMs = onPostgres ? 30_000 : 6_000;
  const settings = { ...oidcSettings(issuer), 'oidc.session_ms': sessionMs };
  const first = await startHub({ data, settings, env: oidcEnv(issuer) });
  issuer.serve(first.url);
  const visitor = createVisitor(issuer);
  await visitor.signIn(first.url, 'u-eve');
  const cookie = visitor.cookies(first.url);
  const flags = ['--port', new URL(first.url).port];
  await first.stop();
  const ask = (): Promise<Reply> =>
    send(`${first.url}/session`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } });
  const second = await startHub({ data, settings, env: oidcEnv(issuer), flags });
  expect((await ask()).status).toBe(200);
  await vi.waitFor(async () => expect((await ask()).status).toBe(401), {
    timeout: sessionMs + 4_000,
    interval: 200,
  });
  await second.stop();
  issuer.serve(hub.url);
});

test('a hub that no longer has the issuer lets none of its people in', async () => {
  const data = freshFolder();
  const first = await startHub({ data, settings: oidcSettings(issuer), env: oidcEnv(issuer) });
  issuer.serve(first.url);
  const visitor = createVisitor(issuer);
  await visitor.signIn(first.url, 'u-eve');
  const cookie = visitor.cookies(first.url);
  await first.stop();
  const second = await startHub({ data, flags: ['--port', new URL(first.url).port] });
  const reply = await send(`${first.url}/session`, { headers: { cookie, 'sec-fetch-site': 'same-origin' } });
  expect(reply.status).toBe(401);
  await second.stop();
  issuer.serve(hub.url);
});

test('the hub starts without its issuer and says so to people; one that answers without end, or sends it elsewhere, is taken for one that does not answer', async () => {
  let asked = 0;
  let isAway = false;
  const bad = createServer((_request, response) => {
    asked++;
    if (isAway) response.writeHead(302, { location: issuer.url }).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(`"${'x'.repeat(2_000_000)}"`);
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => bad.listen(port, '127.0.0.1', () => resolve()));
  await listen(0);
  const { port } = bad.address() as AddressInfo;
  await new Promise((resolve) => bad.close(resolve));
  const settings = { ...oidcSettings(issuer), 'oidc.issuer': `http://127.0.0.1:${port}` };
  const lonely = await startHub({ settings, env: oidcEnv(issuer) });
  const start = async () => {
    const reply = await send(`${lonely.url}/session/start`);
    return [reply.status, whyOf(reply)];
  };
  expect(await start()).toEqual([303, 'unreachable']);
  await listen(port);
  for (const away of [false, true]) {
    isAway = away;
    const before = asked;
    // One that was away is left alone for a moment.
    await vi.waitFor(
      async () => {
        expect(await start()).toEqual([303, 'unreachable']);
        expect(asked).toBeGreaterThan(before);
      },
      { timeout: 20_000, interval: 200 },
    );
  }
  await lonely.stop();
  bad.close();
});

test('a configuration that cannot work ends with one line', async () => {
  const good = oidcSettings(issuer);
  for (const [change, words] of [
    [{ 'oidc.issuer': 'http://login.example.com' }, 'oidc.issuer'],
    [{ 'oidc.issuer': 'https://login.example.com/?x=1' }, 'oidc.issuer'],
    [{ 'oidc.client_id': '' }, 'oidc.client_id'],
    [{ 'oidc.people': '[]', 'oidc.agents': '[]' }, 'oidc.people'],
    [{ 'oidc.people': '[{"claim":"groups","workspaces":[]}]' }, 'oidc.people'],
    [{ 'oidc.client_secret_env': 'NOT_SET' }, 'NOT_SET'],
    [{ 'oidc.base_url': 'https://desk.example/path' }, 'oidc.base_url'],
  ] as const) {
    const set = Object.entries({ ...good, ...change }).flatMap(([key, value]) => [
      '--set',
      `${key}=${value}`,
    ]);
    const { code, stderr } = await runCli(['serve', '--port', '0', ...set], {
      data: freshFolder(),
      env: oidcEnv(issuer),
    });
    expect([words, code === 0, stderr.includes(words)]).toEqual([words, false, true]);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  }
});

test('[C-LOCAL-07] no secret of a sign-in stands in the hub’s log', async () => {
  const visitor = createVisitor(issuer);
  const returned = new URL(await visitor.toReturn(`${hub.url}/session/start`, 'u-ada'));
  await visitor.get(returned.href);
  await visitor.get(returned.href);
  for (const word of [
    returned.searchParams.get('code') ?? '-',
    returned.searchParams.get('state') ?? '-',
    issuer.client.secret,
    visitor.cookies(hub.url).split('.')[1] ?? '-',
  ]) {
    expect(word.length).toBeGreaterThan(8);
    expect(hub.stderr()).not.toContain(word);
  }
});

/** What a hub has loaded by the time it stops, as the engine itself tells. */
async function loadedBy(
  options: Parameters<typeof startHub>[0],
  look: (running: HubProcess) => Promise<void> = async () => {},
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-loaded-'));
  const running = await startHub({ ...options, env: { ...options?.env, NODE_V8_COVERAGE: folder } });
  await look(running);
  await running.stop();
  const reports = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  rmSync(folder, { recursive: true });
  const urls = reports.flatMap((text) =>
    (JSON.parse(text) as { result: { url: string }[] }).result.map(({ url }) => url),
  );
  const files = new Set(urls.filter((url) => url.startsWith('file:')));
  return [...files].map((url) => readFileSync(new URL(url), 'utf8')).join('\n');
}

test('a hub without an issuer has none of these pages, and loads none of what speaks with one', async () => {
  const speaks = (code: string): boolean => code.includes('OAUTH_INVALID_RESPONSE');
  expect(speaks(await loadedBy({ settings: oidcSettings(issuer), env: oidcEnv(issuer) }))).toBe(true);
  const code = await loadedBy({}, async (plain) => {
    for (const path of [
      '/session/start',
      '/session/return',
      '/session/ended',
      '/.well-known/oauth-protected-resource',
    ])
      expect((await send(`${plain.url}${path}`)).status).toBe(404);
    const reply = await send(`${plain.url}/session`, { headers: { 'sec-fetch-site': 'same-origin' } });
    expect(reply.text).not.toContain('sign_in_at');
  });
  expect(speaks(code)).toBe(false);
});
