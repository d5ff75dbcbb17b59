import { generateKeyPairSync, type JsonWebKey, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { type JWTPayload, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

import { atFileEnd } from './at-file-end.ts';

/** A person with an account at the issuer. */
export interface Account {
  preferred_username?: string;
  groups?: string[];
  email?: string;
  email_verified?: boolean;
}

/** A real OpenID provider on loopback, at another site than the hub. */
export interface TestIssuer {
  url: string;
  client: { id: string; secret: string };
  accounts: Map<string, Account>;
  /** Makes the provider for a hub; until then it answers nothing. */
  serve(hubUrl: string): void;
  /** Answers with a failure, as one that is down, until it is let go on. */
  down(isDown: boolean): void;
  /** Puts a listener before the provider, which answers by returning true. */
  before(listener: ((...args: Parameters<RequestListener>) => boolean) | undefined): void;
  /** A token with the issuer's own key, or another. */
  sign(claims: JWTPayload, options?: { key?: KeyObject; header?: Record<string, string> }): Promise<string>;
  /** Takes a new key in the place of the old one. */
  rotate(): void;
  /** How often the keys were fetched. */
  keyLooks(): number;
}

const CLIENT = { id: 'parley-hub', secret: `s-${randomUUID()}` };

interface SigningKey {
  kid: string;
  privateKey: KeyObject;
  jwk: JsonWebKey;
}

function newKey(): SigningKey {
  const kid = randomUUID();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' };
  return { kid, privateKey, jwk };
}

/** Starts an issuer; its accounts sign in with their name and any password. */
export async function startIssuer(): Promise<TestIssuer> {
  let handler: RequestListener = (_request, response) => response.writeHead(503).end();
  let before: Parameters<TestIssuer['before']>[0];
  let isDown = false;
  let keyLooks = 0;
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/jwks') === true) keyLooks += 1;
    if (isDown) response.writeHead(503).end('down');
    else if (before?.(request, response) !== true) handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atFileEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  // By name, while hubs listen at an address: for a browser these are two sites.
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  const accounts = new Map<string, Account>();
  let key = newKey();
  let hub = '';

  function serve(hubUrl: string): void {
    hub = hubUrl;
    const provider = new Provider(url, {
      jwks: { keys: [key.jwk] },
      cookies: { keys: [randomUUID()] },
      scopes: ['openid', 'offline_access', 'parley'],
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [`${hub}/session/return`],
          backchannel_logout_uri: `${hub}/session/ended`,
          backchannel_logout_session_required: true,
        },
      ],
      claims: {
        openid: ['sub'],
        profile: ['preferred_username', 'groups'],
        email: ['email', 'email_verified'],
      },
      findAccount: (_context: unknown, sub: string) =>
        accounts.has(sub) ? { accountId: sub, claims: () => ({ sub, ...accounts.get(sub) }) } : undefined,
      extraTokenClaims: (_context: unknown, token: { accountId?: string }) =>
        accounts.get(token.accountId ?? ''),
      // Everybody has agreed before.
      async loadExistingGrant({ oidc }: GrantContext) {
        const grant = new provider.Grant({
          clientId: oidc.client.clientId,
          accountId: oidc.session.accountId,
        });
        grant.addOIDCScope('openid profile email offline_access parley');
        grant.addResourceScope(`${hub}/mcp`, 'parley');
        await grant.save();
        return grant;
      },
      features: {
        backchannelLogout: { enabled: true },
        registration: { enabled: true },
        devInteractions: { enabled: true },
        resourceIndicators: {
          enabled: true,
          getResourceServerInfo: (_context: unknown, resource: string) => ({
            scope: 'parley',
            audience: resource,
            accessTokenFormat: 'jwt',
            accessTokenTTL: 3_600,
            jwt: { sign: { alg: 'RS256' } },
          }),
        },
      },
      // It reaches no loopback address of itself, and here there are no others.
      fetch: (to: string, { dispatcher: _guard, ...init }: RequestInit & { dispatcher?: unknown }) =>
        fetch(to, init),
    });
    handler = provider.callback();
  }

  return {
    url,
    client: CLIENT,
    accounts,
    serve,
    down: (value) => (isDown = value),
    before: (listener) => (before = listener),
    sign: (claims, { key: other = key.privateKey, header = {} } = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid, ...header }).sign(other),
    rotate() {
      key = newKey();
      serve(hub);
    },
    keyLooks: () => keyLooks,
  };
}

interface GrantContext {
  oidc: { client: { clientId: string }; session: { accountId: string } };
}

/** The settings of a hub whose people come from this issuer. */
export function oidcSettings(
  issuer: TestIssuer,
  more: Record<string, string | number | boolean> = {},
): Record<string, string | number | boolean> {
  return {
    'auth.recheck_ms': 100,
    'oidc.issuer': issuer.url,
    'oidc.client_id': issuer.client.id,
    'oidc.client_secret_env': 'OIDC_SECRET',
    'oidc.key_cooldown_ms': 200,
    'oidc.agent_scopes': 'parley',
    'oidc.people': JSON.stringify([
      { claim: 'groups', value: 'staff', workspaces: ['w1'] },
      { claim: 'groups', value: 'second', workspaces: ['w2'], read_only: true },
    ]),
    'oidc.agents': JSON.stringify([{ claim: 'groups', value: 'staff', workspaces: ['w1'] }]),
    ...more,
  };
}

/** The environment of such a hub. */
export const oidcEnv = ({ client }: TestIssuer): Record<string, string> => ({ OIDC_SECRET: client.secret });
