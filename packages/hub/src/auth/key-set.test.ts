import { exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import { expect, test, vi } from 'vitest';

import { KeysUnavailable, remoteKeys } from './key-set.ts';

const pair = await generateKeyPair('EdDSA', { extractable: true });
const jwk = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'EdDSA' };
const tokenOf = (kid: string): Promise<string> =>
  new SignJWT({}).setProtectedHeader({ alg: 'EdDSA', kid }).sign(pair.privateKey);

/** An issuer that answers in turn as it is told; the last holds. */
function issuer(...answers: (() => Response)[]) {
  const asked = vi.fn(async (): Promise<Response> =>
    (answers[asked.mock.calls.length - 1] ?? answers.at(-1))!(),
  );
  return {
    asked,
    keys: remoteKeys(new URL('https://issuer.example/keys'), { fetch: asked, cooldownDuration: 0 }),
  };
}
const good = (): Response => Response.json({ keys: [jwk] });
const away = (): Response => {
  throw new TypeError('fetch failed');
};

test.each([
  ['does not answer', away],
  ['answers with an error', () => new Response('', { status: 500 })],
  ['answers with something else', () => new Response('<html>')],
  ['answers with no keys', () => Response.json({ hello: 1 })],
])(
  '[HUB-A1] keys that cannot be had since their issuer %s are no fault of the token',
  async (_how, answer) => {
    const { keys } = issuer(answer);
    const refused = await jwtVerify(await tokenOf('k1'), keys).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(KeysUnavailable);
    expect(refused).toMatchObject({ code: 'UNAVAILABLE', details: { retry_after_ms: 2_000 } });
  },
);

test('[HUB-A1] a token of a key that the issuer does not have is refused, as is a forged one', async () => {
  const { keys } = issuer(good);
  await jwtVerify(await tokenOf('k1'), keys);
  await expect(jwtVerify(await tokenOf('k2'), keys)).rejects.toMatchObject({
    code: 'ERR_JWKS_NO_MATCHING_KEY',
  });
  const forged = `${(await tokenOf('k1')).slice(0, -4)}AAAA`;
  await expect(jwtVerify(forged, keys)).rejects.toMatchObject({
    code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  });
});

test('an issuer that is away is not asked again by every token, and known keys go on', async () => {
  const { asked, keys } = issuer(good, away, good);
  const token = await tokenOf('k1');
  await jwtVerify(token, keys);
  for (let i = 0; i < 5; i++)
    await expect(jwtVerify(await tokenOf('other'), keys)).rejects.toBeInstanceOf(KeysUnavailable);
  await jwtVerify(token, keys);
  expect(asked).toHaveBeenCalledTimes(2);
  await new Promise((resolve) => setTimeout(resolve, 2_050));
  await expect(jwtVerify(await tokenOf('other'), keys)).rejects.toMatchObject({
    code: 'ERR_JWKS_NO_MATCHING_KEY',
  });
});
