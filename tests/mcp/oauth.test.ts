import { generateKeyPairSync } from 'node:crypto';
import { pathToFileURL } from 'node:url';

import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { createVisitor } from '../harness/issuer-visit.ts';
import { modern } from '../harness/mcp-wire.ts';
import { send } from '../harness/send.ts';
import { type HubProcess, startHub } from '../harness/start-hub.ts';
import { oidcEnv, oidcSettings, startIssuer, type TestIssuer } from '../harness/start-issuer.ts';
import { requireTool } from '../tools/tools.ts';

let issuer: TestIssuer;
let hub: HubProcess;
beforeAll(async () => {
  issuer = await startIssuer();
  hub = await startHub({ settings: oidcSettings(issuer), env: oidcEnv(issuer) });
  issuer.serve(hub.url);
  issuer.accounts.set('u-ada', { preferred_username: 'ada', groups: ['staff'] });
  issuer.accounts.set('u-cy', { preferred_username: 'cy', groups: ['others'] });
});
afterAll(async () => {
  expect(await hub.stop()).toBe(0);
});

const now = (): number => Math.floor(Date.now() / 1_000);

const good = (claims: Record<string, unknown> = {}): Record<string, unknown> => ({
  iss: issuer.url,
  aud: `${hub.url}/mcp`,
  sub: 'u-ada',
  client_id: 'some-client',
  iat: now(),
  exp: now() + 600,
  jti: `t-${Math.random()}`,
  preferred_username: 'ada',
  groups: ['staff'],
  ...claims,
});

const list = (token: string | undefined, url = hub.url) => modern(url, token, 'tools/list');
const statusOf = async (token: string): Promise<number> => (await list(token)).status;

test('[C-MCP-12] a refusal says where the way to a token is told, and what is told there is whole', async () => {
  for (const token of [undefined, 'rubbish', await issuer.sign(good({ exp: now() - 3_600 }))]) {
    const { status, headers } = await list(token);
    expect(status).toBe(401);
    const challenge = headers['www-authenticate'] ?? '';
    expect(challenge).toMatch(/^Bearer realm="parley", /);
    const [, url = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
    expect(url).toBe(`${hub.url}/.well-known/oauth-protected-resource/mcp`);
    const metadata = await send(url);
    expect([metadata.status, metadata.headers['content-type']]).toEqual([200, 'application/json']);
    expect(JSON.parse(metadata.text)).toEqual({
      resource: `${hub.url}/mcp`,
      resource_name: 'Parley',
      authorization_servers: [issuer.url],
      bearer_methods_supported: ['header'],
      scopes_supported: ['parley'],
    });
    expect((await send(`${hub.url}/.well-known/oauth-protected-resource`)).text).toBe(metadata.text);
  }
  // Where there is no issuer there is nothing to be found.
  const plain = await startHub();
  expect((await list(undefined, plain.url)).headers['www-authenticate']).toBe('Bearer realm="parley"');
  expect((await send(`${plain.url}/.well-known/oauth-protected-resource/mcp`)).status).toBe(404);
  await plain.stop();
});

const CALLBACK = 'http://127.0.0.1:9/callback';

/** An OAuth client as a program has one: it registers itself, and a person signs in in a browser. */
function createProgram(account: string): OAuthClientProvider & { answer: () => Promise<URLSearchParams> } {
  const visitor = createVisitor(issuer);
  let client: unknown;
  let tokens: unknown;
  let verifier = '';
  let wanted = '';
  return {
    redirectUrl: CALLBACK,
    clientMetadata: {
      redirect_uris: [CALLBACK],
      client_name: 'a program',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      application_type: 'native',
    },
    clientInformation: () => client as never,
    saveClientInformation: (value: unknown) => void (client = value),
    tokens: () => tokens as never,
    saveTokens: (value: unknown) => void (tokens = value),
    redirectToAuthorization: (url: URL) => void (wanted = url.href),
    saveCodeVerifier: (value: string) => void (verifier = value),
    codeVerifier: () => verifier,
    answer: async () => new URL(await visitor.toReturn(wanted, account)).searchParams,
  };
}

test('[C-MCP-12] a real MCP client finds the issuer by itself and comes back with its token', async () => {
  const program = createProgram('u-ada');
  const url = new URL(`${hub.url}/mcp`);
  const first = new StreamableHTTPClientTransport(url, { authProvider: program });
  const client = new Client({ name: 'program', version: '1' });
  await expect(client.connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
  await first.finishAuth(await program.answer());
  const again = new Client({ name: 'program', version: '1' });
  await again.connect(new StreamableHTTPClientTransport(url, { authProvider: program }));
  const made = await again.callTool({ name: 'create_thread', arguments: { title: 'by a program' } });
  expect(made.structuredContent).toMatchObject({ thread_id: expect.any(String) });
  const { thread_id } = made.structuredContent as { thread_id: string };
  await again.callTool({
    name: 'post_message',
    arguments: { thread_id, schema_version: 1, body: 'hello', idempotency_key: 'k1' },
  });
  const read = await again.callTool({ name: 'read_messages', arguments: { thread_id } });
  expect(JSON.stringify(read.structuredContent)).toContain('"sender_agent_id":"ada-agent"');
  await again.close();
});

test('[C-MCP-12] a client of the older library does the same', async () => {
  const at = new URL('../../sdk/dist/esm/client/', pathToFileURL(requireTool('conformance')));
  const { Client: OldClient } = (await import(new URL('index.js', at).href)) as { Client: typeof Client };
  const { StreamableHTTPClientTransport: OldTransport } = (await import(
    new URL('streamableHttp.js', at).href
  )) as { StreamableHTTPClientTransport: typeof StreamableHTTPClientTransport };
  const program = createProgram('u-ada');
  const url = new URL(`${hub.url}/mcp`);
  const first = new OldTransport(url, { authProvider: program });
  await expect(new OldClient({ name: 'old', version: '1' }).connect(first)).rejects.toThrow(
    /[Uu]nauthorized/,
  );
  await first.finishAuth((await program.answer()).get('code') ?? '');
  const client = new OldClient({ name: 'old', version: '1' });
  await client.connect(new OldTransport(url, { authProvider: program }));
  expect((await client.listTools()).tools.length).toBeGreaterThan(3);
  await client.close();
});

test('the token of somebody whom the mapping does not know gets no further', async () => {
  const program = createProgram('u-cy');
  const url = new URL(`${hub.url}/mcp`);
  const first = new StreamableHTTPClientTransport(url, { authProvider: program });
  await expect(new Client({ name: 'p', version: '1' }).connect(first)).rejects.toBeInstanceOf(
    UnauthorizedError,
  );
  await first.finishAuth(await program.answer());
  const client = new Client({ name: 'p', version: '1' });
  await expect(
    client.connect(new StreamableHTTPClientTransport(url, { authProvider: program })),
  ).rejects.toThrow();
});

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test('[C-MCP-12] a token that is not the issuer’s, not for this hub or not an access token is refused', async () => {
  expect(await statusOf(await issuer.sign(good()))).toBe(200);
  expect(await statusOf(await issuer.sign(good(), { header: { typ: 'at+jwt' } }))).toBe(200);
  const { keys } = (await (await fetch(`${issuer.url}/jwks`)).json()) as { keys: Record<string, string>[] };
  const other = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const hmac = (secret: Uint8Array): Promise<string> =>
    new SignJWT(good()).setProtectedHeader({ alg: 'HS256', kid: keys[0]?.['kid'] ?? '' }).sign(secret);
  const { n = '', e = '' } = keys[0] ?? {};
  const { createPublicKey } = await import('node:crypto');
  const pem = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' }).export({
    type: 'spki',
    format: 'pem',
  });
  const fine = await issuer.sign(good());
  const cases: Record<string, string> = {
    'another audience': await issuer.sign(good({ aud: 'https://other.example/mcp' })),
    'the audience of the sign-in': await issuer.sign(good({ aud: issuer.client.id })),
    'no audience': await issuer.sign(good({ aud: undefined })),
    'another issuer': await issuer.sign(good({ iss: 'https://evil.example' })),
    'an issuer with a slash': await issuer.sign(good({ iss: `${issuer.url}/` })),
    expired: await issuer.sign(good({ exp: now() - 60 })),
    'no end': await issuer.sign(good({ exp: undefined })),
    'not yet': await issuer.sign(good({ nbf: now() + 600 })),
    'from the future': await issuer.sign(good({ iat: now() + 600, exp: now() + 900 })),
    'lives too long': await issuer.sign(good({ exp: now() + 400 * 86_400 })),
    'no subject': await issuer.sign(good({ sub: undefined })),
    'alg none': `${part({ alg: 'none', kid: keys[0]?.['kid'] })}.${part(good())}.`,
    'alg none with a signature': `${part({ alg: 'none' })}.${fine.split('.').slice(1).join('.')}`,
    'HS256 by the public key as PEM': await hmac(Buffer.from(pem)),
    'HS256 by the public key as n': await hmac(Buffer.from(n)),
    'another key under the same kid': await issuer.sign(good(), { key: other.privateKey }),
    'its own key along': await issuer.sign(good(), {
      key: other.privateKey,
      header: { jwk: other.publicKey.export({ format: 'jwk' }) as never },
    }),
    'its own key by address': await issuer.sign(good(), { header: { jku: `${issuer.url}/jwks` } }),
    'changed claims': fine.replace(/\.[^.]+\./, `.${part(good({ groups: ['staff', 'x'] }))}.`),
    'an ID token': await issuer.sign(good({ nonce: 'n' })),
    'a notice of a sign-out': await issuer.sign(good(), { header: { typ: 'logout+jwt' } }),
    'no rule for it': await issuer.sign(good({ groups: ['others'] })),
    'a reserved name': await issuer.sign(good({ preferred_username: '-x' })),
    'the name of another account': await issuer.sign(good({ sub: 'u-twin' })),
    'too long': await issuer.sign(good({ x: 'y'.repeat(9_000) })),
  };
  const answers: Record<string, number> = {};
  for (const [what, token] of Object.entries(cases)) answers[what] = await statusOf(token);
  expect(answers).toEqual(Object.fromEntries(Object.keys(cases).map((what) => [what, 401])));
});

test('an agent that comes with a token has the role of the mapping, on every face, and nothing in it raises that', async () => {
  const token = await issuer.sign(
    good({ role: 'operator', workspace_id: 'w9', agent_id: 'boss', session_id: 'x', read_only: false }),
  );
  const post = (operation: string, input: unknown) =>
    send(`${hub.url}/v1/${operation}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(input),
    });
  expect((await post('create_thread', { title: 'mine' })).status).toBe(200);
  expect((await post('list_devices', {})).status).toBe(403);
  expect((await post('heartbeat_session', { runtime: 'x' })).status).toBe(200);
  const { sessions } = JSON.parse((await post('list_sessions', {})).text) as { sessions: unknown[] };
  expect(sessions).toContainEqual(expect.objectContaining({ agent_id: 'ada-agent' }));
});

test('new keys are found when they are first used, old ones are let go, and strangers make the hub look seldom', async () => {
  const old = await issuer.sign(good());
  expect(await statusOf(old)).toBe(200);
  issuer.rotate();
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await statusOf(await issuer.sign(good()))).toBe(200);
  const looks = issuer.keyLooks();
  const began = Date.now();
  const strangers = await Promise.all(
    Array.from({ length: 60 }, async (_none, i) => issuer.sign(good(), { header: { kid: `stranger-${i}` } })),
  );
  for (const status of await Promise.all(strangers.map(statusOf))) expect(status).toBe(401);
  // Each node looks for itself.
  expect(issuer.keyLooks() - looks).toBeLessThanOrEqual(hub.pids.length * (2 + (Date.now() - began) / 200));
  expect(issuer.keyLooks() - looks).toBeLessThan(60);
});

test('an issuer that does not answer makes nobody a stranger: the hub says so, and heals', async () => {
  const fresh = await startHub({
    settings: { ...oidcSettings(issuer), 'oidc.audience': 'for-a-test' },
    env: oidcEnv(issuer),
  });
  const token = await issuer.sign(good({ aud: 'for-a-test' }));
  issuer.down(true);
  const refused = await list(token, fresh.url);
  expect(refused.status).toBe(503);
  expect(refused.text).toContain('does not answer');
  issuer.down(false);
  const known = async (): Promise<void> => {
    for (const _ of fresh.pids) expect((await list(token, fresh.url)).status).toBe(200);
  };
  await vi.waitFor(known, 10_000);
  issuer.down(true);
  // What was verified stands while the issuer is away.
  await known();
  issuer.down(false);
  await fresh.stop();
});

test('when a person signs out, the agents that came with their account are out too, with what they hold open', async () => {
  const token = await issuer.sign(good());
  expect(await statusOf(token)).toBe(200);
  const visitor = createVisitor(issuer);
  issuer.accounts.set('u-ada', { preferred_username: 'ada', groups: ['staff'] });
  await visitor.signIn(hub.url, 'u-ada');
  const stream = send(`${hub.url}/v1/stream`, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
  });
  const left = await send(`${hub.url}/session`, {
    method: 'DELETE',
    headers: { cookie: visitor.cookies(hub.url), origin: hub.url },
  });
  expect(left.status, left.text).toBe(200);
  expect(await statusOf(token)).toBe(401);
  await stream;
  // A token that the issuer gives afterwards is good.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(await statusOf(await issuer.sign(good()))).toBe(200);
});
