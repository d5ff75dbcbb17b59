import { ParleyError } from '@parley/protocol';
import { errors } from 'jose';

import type { Devices } from '../auth/devices.ts';
import type { SignInTries } from '../auth/sign-in-tries.ts';
import { TokenRefused } from '../auth/token-refused.ts';
import type { Config } from '../config/schema.ts';
import { readKey } from '../config/secret.ts';
import { HttpRefusal } from '../exchange.ts';
import { createOidcFace } from '../faces/oidc/face.ts';
import type { Logger } from '../logger.ts';
import type { Face } from '../server.ts';
import type { OpenRecord } from '../start-record.ts';
import { type AccessTokens, createAccessTokens } from './access-tokens.ts';
import { createIssuer } from './issuer.ts';
import { createPeople, type People } from './people.ts';
import { createSignIn } from './sign-in.ts';
import { createNoticeReader } from './sign-out-notice.ts';
import { createTickets } from './ticket.ts';

/** Several people: who they are is an issuer's word. */
export interface Oidc {
  people: People;
  tokens(isOutside: (name: string) => boolean): AccessTokens;
  face(deps: FaceDeps): Face;
  /** How the sign-in page calls the issuer; undefined where people do not sign in there. */
  signInAt: string | undefined;
  /** What a refusal tells an MCP client: where it learns who gives out tokens. */
  challenge: () => string;
}

interface FaceDeps {
  devices: Pick<Devices, 'admit'>;
  tries: SignInTries;
  isOutside: (name: string) => boolean;
}

/** Opens the way for people and agents of the configured issuer; a hub without one never loads this. */
export async function openOidc(
  config: Config,
  { store, log, clock, chance }: OpenRecord,
  address: () => string,
  logger: Logger,
  onFault: (error: unknown) => void,
): Promise<Oidc> {
  const { oidc: settings } = config;
  const secret = readKey(
    { api_key_env: settings.client_secret_env, api_key_file: settings.client_secret_file },
    'oidc',
  );
  checkSettings(config);
  const baseUrl = (): string => (settings.base_url === '' ? address() : settings.base_url);
  const resource = (): string => `${baseUrl()}/mcp`;
  const issuer = createIssuer(settings, secret, clock.now);
  const people = createPeople({ store, log, clock, chance, issuer: settings.issuer, onFault });
  await people.load();
  const readNotice = createNoticeReader(settings, issuer, clock.now);

  async function heard(notice: string): Promise<void> {
    let subject: string;
    try {
      subject = await readNotice(notice);
    } catch (error) {
      if (!(error instanceof TokenRefused || error instanceof errors.JOSEError || error instanceof TypeError))
        throw error;
      logger.warn(
        { why: error instanceof TokenRefused ? error.reason : error.message },
        'a notice of a sign-out was refused',
      );
      throw new HttpRefusal(400, 'VALIDATION_ERROR', 'logout_token: is none of the issuer’s for this hub');
    }
    await people.end({ issuer: settings.issuer, subject });
  }

  return {
    people,
    signInAt: settings.client_id === '' ? undefined : new URL(settings.issuer).host,
    challenge: () =>
      `Bearer realm="parley", resource_metadata="${baseUrl()}/.well-known/oauth-protected-resource/mcp"`,
    tokens: (isOutside) =>
      createAccessTokens({
        config,
        issuer,
        people,
        clock,
        audience: () => (settings.audience === '' ? resource() : settings.audience),
        isOutside,
      }),
    face: ({ devices, tries, isOutside }) =>
      createOidcFace({
        signIn:
          settings.client_id === ''
            ? undefined
            : createSignIn({ settings, issuer, people, devices, baseUrl, isOutside, now: clock.now }),
        tickets: createTickets(secret, clock.now),
        tries,
        heard,
        metadata: () => ({
          resource: resource(),
          resource_name: 'Parley',
          authorization_servers: [settings.issuer],
          bearer_methods_supported: ['header'],
          ...(settings.agent_scopes.length === 0 ? {} : { scopes_supported: settings.agent_scopes }),
        }),
        baseUrl,
        onRefused: (why, fault) => logger.warn({ why, fault }, 'a sign-in came to nothing'),
      }),
  };
}

/** Refuses a configuration by which nobody could come in, or with a name where the hub has one already. */
function checkSettings({ oidc, auth }: Config): void {
  const refuse = (text: string): never => {
    throw new ParleyError('VALIDATION_ERROR', `configuration: ${text} (see docs/people.md)`);
  };
  if (oidc.people.length === 0 && oidc.agents.length === 0)
    refuse('oidc: say in oidc.people who may sign in, or in oidc.agents whose tokens are taken');
  if (oidc.people.length > 0 && oidc.client_id === '')
    refuse('oidc.client_id: is needed for people to sign in');
  if (oidc.issuer === auth.issuer || auth.issuers.some(({ issuer }) => issuer === oidc.issuer))
    refuse('oidc.issuer: is in auth.issuer or auth.issuers too; name it once');
}
