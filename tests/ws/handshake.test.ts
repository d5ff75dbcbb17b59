import { connect } from 'node:net';

import { expect, test } from 'vitest';

import { runJson } from '../harness/run-cli.ts';
import { send } from '../harness/send.ts';
import { issueToken } from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';
import { dial, refusal } from './live-client.ts';

const scene = useHub({
  settings: {
    'log.level': 'trace',
    'auth.clock_skew_ms': 0,
    'live.ticket_ms': 2_000,
  },
});

async function ticketFor(token: string): Promise<string> {
  const answer = await send(`${scene.hub.url}/v1/ws_ticket`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  expect(answer.status).toBe(200);
  const { ticket, expires_in_ms } = JSON.parse(answer.text) as { ticket: string; expires_in_ms: number };
  expect(expires_in_ms).toBeLessThanOrEqual(60_000);
  scene.ledger.secrets.add(ticket);
  return ticket;
}

test('[LIVE-2] [C-WS-01] no token, a bad one or an expired one: HTTP 401 and no upgrade', async () => {
  const { url } = scene.hub;
  const now = Math.floor(Date.now() / 1_000);
  const expired = scene.signer.token({ agent: 'alice' }, { iat: now - 100, exp: now - 50 });
  for (const token of [undefined, 'nonsense', expired, `${scene.as('alice').token}x`]) {
    const answer = await refusal(dial(url, 'alice', token));
    expect(answer.status).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="parley"');
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 'UNAUTHORIZED' } });
  }
  const twice = await refusal(
    dial(url, 'alice', scene.as('alice').token, {
      protocols: ['parley.v1', `bearer.${scene.as('alice').token}`],
    }),
  );
  expect(twice.status).toBe(401);
});

test('[LIVE-2] the token may come as a header, a subprotocol, a single-use ticket or a short JWT', async () => {
  const { url } = scene.hub;
  const { token } = scene.as('alice');
  await (await dial(url, 'alice', token)).hub('list_threads');

  const spoken = await dial(url, 'alice', undefined, { protocols: ['parley.v1', `bearer.${token}`] });
  expect(spoken.ws.protocol).toBe('parley.v1');
  await spoken.hub('list_threads');
  expect((await refusal(dial(url, 'alice', undefined, { protocols: [`bearer.${token}`] }))).status).toBe(400);

  const ticket = await ticketFor(token);
  await (await dial(url, 'alice', undefined, { query: `?token=${ticket}` })).hub('list_threads');
  expect((await refusal(dial(url, 'alice', undefined, { query: `?token=${ticket}` }))).status).toBe(401);
  const stale = await ticketFor(token);
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  expect((await refusal(dial(url, 'alice', undefined, { query: `?token=${stale}` }))).status).toBe(401);

  const now = Math.floor(Date.now() / 1_000);
  const short = scene.signer.token({ agent: 'alice' }, { iat: now, exp: now + 50 });
  await (await dial(url, 'alice', undefined, { query: `?version=1.0&token=${short}` })).hub('list_threads');
  const long = await refusal(dial(url, 'alice', undefined, { query: `?version=1.0&token=${token}` }));
  expect([long.status, (JSON.parse(long.body) as { error: { message: string } }).error.message]).toEqual([
    401,
    expect.stringContaining('POST /v1/ws_ticket'),
  ]);
});

test('[LIVE-2] [C-WS-02] the version is settled before any message', async () => {
  const { url } = scene.hub;
  const { token } = scene.as('alice');
  for (const query of ['?version=1.1', '?version=1', ''])
    await (await dial(url, 'alice', token, { query })).hub('list_threads');
  for (const version of ['2.0', '1.0;x', '', 'one', '1.0&version=1.0']) {
    const answer = await refusal(dial(url, 'alice', token, { query: `?version=${version}` }));
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { details: { supported: ['1.0'] } } });
  }
});

test('[C-WS-03] a foreign Origin is refused; none and our own are fine', async () => {
  const { url } = scene.hub;
  const { token } = scene.as('alice');
  const foreign = { headers: { origin: 'https://evil.example' } };
  expect((await refusal(dial(url, 'alice', token, foreign))).status).toBe(403);
  await (await dial(url, 'alice', token)).hub('list_threads');
  await (await dial(url, 'alice', token, { headers: { origin: url } })).hub('list_threads');
});

test('[C-WS-04] a foreign Host is refused', async () => {
  const { token } = scene.as('alice');
  const answer = await refusal(dial(scene.hub.url, 'alice', token, { headers: { host: 'evil.example' } }));
  expect(answer.status).toBe(403);
});

test('[C-WS-05] what stands in ?token= stands nowhere else, whatever goes wrong', async () => {
  const canary = 'CANARY-a1b2c3d4e5f6g7h8i9';
  scene.ledger.secrets.add(canary);
  const { url, pid } = scene.hub;
  for (const query of [
    `?token=${canary}`,
    `?version=2.0&token=${canary}`,
    `?token=${canary}&token=${canary}`,
  ]) {
    const answer = await refusal(dial(url, 'alice', undefined, { query }));
    expect(answer.headers['referrer-policy']).toBe('no-referrer');
    expect(answer.body).not.toContain(canary);
  }
  const plain = await send(`${url}/ws?token=${canary}`);
  expect(plain.status).toBe(426);
  expect(plain.text + JSON.stringify(plain.headers)).not.toContain(canary);
  for (const path of ['/v1/threads', '/mcp', '/v1/live/messages'])
    expect((await send(`${url}${path}?token=${canary}`)).status).toBe(401);
  const ticket = await ticketFor(scene.as('alice').token);
  const client = await dial(url, 'alice', undefined, { query: `?token=${ticket}` });
  client.ws.send('{');
  expect((await client.until(() => true)).type).toBe('error');
  const { readFileSync } = await import('node:fs');
  expect(readFileSync(`/proc/${pid}/cmdline`, 'latin1')).not.toContain(canary);
});

test('[LIVE-2] [C-WS-24] [C-AUTH-11] a connection ends soon after its token: expired or revoked, with 4401', async () => {
  const { url, data } = scene.hub;
  const now = Math.floor(Date.now() / 1_000);
  const dying = scene.signer.token({ agent: 'mayfly' }, { iat: now, exp: now + 2 });
  const client = await dial(url, 'mayfly', dying);
  const issued = await issueToken({ agent: 'bob' }, { data });
  const bob = await dial(url, 'bob', issued.token);
  const spared = await dial(url, 'carol', scene.as('carol').token);
  await bob.hub('list_threads');
  await runJson(['token', 'revoke', issued.jti], { data });
  const revokedAt = Date.now();
  expect(await bob.closed).toEqual({ code: 4401, reason: 'the token is no longer good: revoked' });
  expect(Date.now() - revokedAt).toBeLessThan(5_000);
  expect(await client.closed).toEqual({ code: 4401, reason: 'the token is no longer good: expired' });
  expect(Date.now() / 1_000 - now).toBeLessThan(30);
  await spared.hub('list_threads');
});

test('[C-WS-27] an upgrade with absurd headers is refused and harms nobody', async () => {
  const { token } = scene.as('alice');
  const { port, hostname, host } = new URL(scene.hub.url);
  const head = (more: string): string =>
    `GET /ws?version=1.0 HTTP/1.1\r\nhost: ${host}\r\nupgrade: websocket\r\nconnection: Upgrade\r\n` +
    `sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer ${token}\r\n${more}\r\n`;
  const status = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString()));
      socket.on('close', () => resolve(answer.split(' ')[1] ?? 'none'));
      socket.on('error', reject);
      socket.write(text);
    });
  const tiny = Array.from({ length: 2_000 }, () => 'a:b\r\n').join('');
  const many = Array.from({ length: 2_000 }, (_, i) => `x-header-${i}: value\r\n`).join('');
  const few = Array.from({ length: 150 }, (_, i) => `x-${i}: v\r\n`).join('');
  for (const more of [tiny, many, few, `sec-websocket-protocol: ${' '.repeat(30_000)}\r\n`])
    expect(['400', '431']).toContain(await status(head(more)));
  expect(await status(head('sec-websocket-protocol: a b,,\r\n'))).toBe('400');
  expect(await status(head('').replace('dGhlIHNhbXBsZSBub25jZQ==', 'short'))).toBe('400');
});

test('an upgrade to something else is ignored, as HTTP allows: the request is served', async () => {
  const { token } = scene.as('alice');
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    connection: 'Upgrade, HTTP2-Settings',
    upgrade: 'h2c',
    'http2-settings': 'AAMAAABkAAQAAP__',
  };
  const body = JSON.stringify({ title: 'served all the same' });
  const answer = await send(`${scene.hub.url}/v1/create_thread`, { method: 'POST', headers, body });
  expect(answer.status).toBe(200);
});
