import { generateKeyPairSync, sign } from 'node:crypto';

import { expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { freePort } from '../harness/free-port.ts';
import { send } from '../harness/send.ts';
import { claimsOf, joinToken } from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';
import { envelopeOf, sendEnvelope } from '../knowledge/envelope-client.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const issuer = 'https://away.example';
// Nobody listens there.
const jwks = `https://127.0.0.1:${await freePort()}/keys`;
const scene = useHub({
  settings: { 'quota.bad_tokens_burst': 1, 'auth.issuers': JSON.stringify([{ issuer, jwks }]) },
});

const tokenOf = (iss: string): string =>
  joinToken(
    { alg: 'EdDSA', kid: 'theirs' },
    { ...claimsOf({ agent: 'alice' }), iss, aud: 'parley' },
    (text) => sign(null, text, privateKey),
  );

test('[HUB-A1] a token whose issuer does not give its keys is UNAVAILABLE on every face, with the next step, and is not counted as bad', async () => {
  const { url } = scene.hub;
  const token = tokenOf(issuer);
  for (let i = 0; i < 3; i++)
    for (const face of faces) {
      const { error } = await face.call(url, token, 'list_threads', {});
      expect(error?.code).toBe('UNAVAILABLE');
      // On MCP the details stand beside the code.
      expect(JSON.stringify(error)).toContain('"hint":"the token may be good');
      expect(JSON.stringify(error)).toContain('"retry_after_ms":2000');
    }
  const headers = { authorization: `Bearer ${token}` };
  const plain = await send(`${url}/v1/me`, { headers });
  expect([plain.status, plain.headers['retry-after']]).toEqual([503, '2']);
  const upgrade = {
    ...headers,
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };
  expect((await send(`${url}/ws`, { headers: upgrade })).status).toBe(503);
  expect((await send(`${url}/v1/live/messages`, { headers })).status).toBe(503);
  const envelope = envelopeOf('registry.list', {});
  expect((await sendEnvelope(url, token, envelope, { path: '/v1/envelope' })).status).toBe(503);
  // Of an issuer that nobody knows it stays a bad token.
  const unknown = await send(`${url}/v1/me`, {
    headers: { authorization: `Bearer ${tokenOf('https://unknown.example')}` },
  });
  expect(unknown.status).toBe(401);
});
