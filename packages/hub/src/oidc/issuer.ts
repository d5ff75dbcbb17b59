import type { JWTVerifyGetKey } from 'jose';
import * as oidc from 'openid-client';

import { isLoopback, type OidcSettings } from '../config/oidc-settings.ts';
import { remoteKeys } from '../auth/key-set.ts';
import { createBoundedFetch, IssuerUnreachable } from './bounded-fetch.ts';
import type { IssuerClaims } from './mapping.ts';

/** What a browser must bring back to the hub that sent it to the issuer. */
interface SignInWords {
  state: string;
  nonce: string;
  verifier: string;
}

/** The issuer, as the hub speaks with it. */
export interface Issuer {
  /** Where a browser goes to sign in; the words are kept for its return. */
  begin(redirectUri: string): Promise<{ url: string; words: SignInWords }>;
  /** Takes the code that a browser came back with: who signed in. Throws where anything is not as it was begun. */
  finish(returned: URL, words: SignInWords): Promise<IssuerClaims & { sub: string }>;
  /** The keys that the issuer signs with: fetched when first needed, kept, and looked at anew for one not known. */
  keys(): Promise<JWTVerifyGetKey>;
}

/** How long what an issuer says of itself is believed. */
const METADATA_MS = 86_400_000;
const KEYS_MS = 600_000;

type Settings = Pick<
  OidcSettings,
  'issuer' | 'client_id' | 'scopes' | 'algorithms' | 'timeout_ms' | 'key_cooldown_ms'
>;

/** Speaks to the configured issuer; nothing is asked of it before somebody comes. */
export function createIssuer(settings: Settings, secret: string | undefined, now: () => number): Issuer {
  const server = new URL(settings.issuer);
  const boundedFetch = createBoundedFetch(settings.timeout_ms);
  let found: { at: number; known: Promise<Known> } | undefined;

  interface Known {
    config: oidc.Configuration;
    keys: JWTVerifyGetKey;
  }

  async function discover(): Promise<Known> {
    const config = await oidc.discovery(
      server,
      // A hub without a name at the issuer sends nobody there; it only wants to know the keys.
      settings.client_id === '' ? 'parley' : settings.client_id,
      secret,
      secret === undefined ? oidc.None() : undefined,
      {
        // The library hands on what fetch takes.
        [oidc.customFetch]: (url, init) => boundedFetch(url, init as RequestInit),
        execute:
          server.protocol === 'http:' && isLoopback(server.hostname) ? [oidc.allowInsecureRequests] : [],
      },
    );
    // The signature counts too where TLS alone would do.
    oidc.enableNonRepudiationChecks(config);
    const { jwks_uri } = config.serverMetadata();
    if (jwks_uri === undefined || new URL(jwks_uri).protocol !== server.protocol)
      throw new IssuerUnreachable(new Error('its metadata names no keys, or names them elsewhere'));
    const keys = remoteKeys(new URL(jwks_uri), {
      cacheMaxAge: KEYS_MS,
      cooldownDuration: settings.key_cooldown_ms,
      fetch: boundedFetch,
    });
    return { config, keys };
  }

  function known(): Promise<Known> {
    if (found !== undefined && now() - found.at < METADATA_MS) return found.known;
    const asked = {
      at: now(),
      known: discover().catch((error: unknown) => {
        // The next who comes asks again.
        if (found === asked) found = undefined;
        throw error instanceof IssuerUnreachable ? error : new IssuerUnreachable(error);
      }),
    };
    found = asked;
    return asked.known;
  }

  return {
    async begin(redirect_uri) {
      const { config } = await known();
      const words = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri,
        scope: settings.scopes.join(' '),
        code_challenge: await oidc.calculatePKCECodeChallenge(words.verifier),
        code_challenge_method: 'S256',
        state: words.state,
        nonce: words.nonce,
      });
      return { url: url.href, words };
    },
    async finish(returned, { state, nonce, verifier }) {
      const { config } = await known();
      const tokens = await oidc.authorizationCodeGrant(config, returned, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new Error('the issuer sent no ID token');
      const more =
        config.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
      return { ...more, ...claims };
    },
    keys: async () => (await known()).keys,
  };
}
