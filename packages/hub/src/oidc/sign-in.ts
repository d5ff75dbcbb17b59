import type { PersonGrant } from '@parley/core';
import { DeviceName, ParleyError, fieldsOf } from '@parley/protocol';
import { AuthorizationResponseError } from 'openid-client';

import type { Devices } from '../auth/devices.ts';
import type { OidcSettings } from '../config/oidc-settings.ts';
import { IssuerUnreachable } from './bounded-fetch.ts';
import type { Issuer } from './issuer.ts';
import { claimText, mapClaims, type Mapped } from './mapping.ts';
import type { People } from './people.ts';
import type { Ticket } from './ticket.ts';

/** Why a sign-in came to nothing; the page has the words for each. */
export type SignInFault =
  | 'stale'
  | 'cancelled'
  | 'refused'
  | 'unreachable'
  | 'nobody'
  | 'nameless'
  | 'taken'
  | 'often';

/** A sign-in that came to nothing; the cause is for the log and holds no secret. */
export class SignInRefused extends Error {
  readonly fault: SignInFault;

  constructor(fault: SignInFault, why: string) {
    super(why);
    this.fault = fault;
  }
}

/** A person signs in at the issuer and comes back as a device. */
export interface SignIn {
  begin(to: string, device: string): Promise<{ url: string; ticket: Ticket }>;
  /** The secret of the device's cookie, and the page that the person wanted. */
  finish(query: string, ticket: Ticket | undefined): Promise<{ secret: string; to: string }>;
}

interface SignInOptions {
  settings: OidcSettings;
  issuer: Issuer;
  people: People;
  devices: Pick<Devices, 'admit'>;
  baseUrl: () => string;
  isOutside: (name: string) => boolean;
  now: () => number;
}

/** A page of the hub's own, and nothing that a browser could take for another place. */
const OWN_PAGE = /^\/(?:[\w%~-][\w.%~:@-]*(?:\/[\w%~-][\w.%~:@-]*)*)?$/;
const LONGEST_PAGE = 300;

/** Signs people in by the authorization code, with PKCE, state and nonce. */
export function createSignIn(options: SignInOptions): SignIn {
  const { settings, issuer, people, devices, baseUrl, now } = options;
  const returnUrl = (): string => `${baseUrl()}/session/return`;

  function grantsOf(subject: string, { name, places }: Mapped): PersonGrant[] {
    const since = new Date(now()).toISOString();
    const until = new Date(now() + settings.session_ms).toISOString();
    return places.map(({ workspace_id }) => ({
      issuer: settings.issuer,
      subject,
      name,
      workspace_id,
      since,
      until,
      places,
    }));
  }

  /** The workspaces in which the name is this person's. */
  async function bound(grants: readonly PersonGrant[], named: boolean): Promise<PersonGrant[]> {
    const good: PersonGrant[] = [];
    for (const grant of grants) {
      try {
        await people.bind(grant, named);
        good.push(grant);
      } catch (error) {
        if (!(error instanceof ParleyError && error.code === 'CONFLICT')) throw error;
      }
    }
    return good.map((grant) => ({
      ...grant,
      places: grant.places.filter((place) => good.some((one) => one.workspace_id === place.workspace_id)),
    }));
  }

  return {
    async begin(to, device) {
      const { url, words } = await issuer.begin(returnUrl()).catch((error: unknown) => {
        throw toFault(error);
      });
      const page = to.length <= LONGEST_PAGE && OWN_PAGE.test(to) ? to : '/';
      const name = DeviceName.safeParse(device).data ?? 'Browser';
      return { url, ticket: { ...words, to: page, device: name } };
    },
    async finish(query, ticket) {
      const returned = new URL(`${returnUrl()}?${query}`);
      if (ticket === undefined) throw new SignInRefused('stale', 'no ticket, or one that is too old');
      if (returned.searchParams.get('state') !== ticket.state)
        throw new SignInRefused('stale', 'another state than this browser began with');
      const claims = await issuer.finish(returned, ticket).catch((error: unknown) => {
        throw toFault(error);
      });
      const mapped = mapClaims(claims, settings.people, (found) => claimText(found, settings.name_claim));
      if (typeof mapped === 'string') throw new SignInRefused(mapped, 'oidc.people gives no place');
      if (options.isOutside(mapped.name)) throw new SignInRefused('taken', 'the name of an outsider');
      const [person] = await bound(grantsOf(claims.sub, mapped), mapped.named);
      const [place] = person?.places ?? [];
      if (person === undefined || place === undefined)
        throw new SignInRefused('taken', 'the name belongs to somebody else');
      const admitted = await devices.admit(
        { ...place, agent_id: mapped.name, name: undefined, grant: { person, devices: [] } },
        ticket.device,
      );
      if (admitted === undefined) throw new SignInRefused('stale', 'the person was signed out meanwhile');
      return { secret: admitted.secret, to: ticket.to };
    },
  };
}

function toFault(error: unknown): unknown {
  if (isUnreachable(error)) return new SignInRefused('unreachable', describe(error));
  if (error instanceof AuthorizationResponseError && error.error === 'access_denied')
    return new SignInRefused('cancelled', 'the issuer says access_denied');
  return new SignInRefused('refused', describe(error));
}

/** True where somewhere behind an error the issuer did not answer. */
function isUnreachable(error: unknown): boolean {
  let at = error;
  for (let depth = 0; depth < 5 && at instanceof Error; depth += 1) {
    if (at instanceof IssuerUnreachable) return true;
    at = at.cause;
  }
  return false;
}

/** What went wrong by its kind: texts of the issuer stay out of the log. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code, error: said } = fieldsOf(error);
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${error.message}${typeof code === 'string' ? ` [${code}]` : ''}${typeof said === 'string' ? ` ${said.slice(0, 64)}` : ''}${cause}`;
}
