import {
  type Authority,
  createInvitations,
  createQuota,
  type DevicePorts,
  type Grant,
  type PersonGrant,
  shareInvitations,
  type SharedSpending,
} from '@parley/core';
import type { Claims } from '@parley/protocol';

import { createAuthenticate, createTokenCheck } from './auth/authenticate.ts';
import { createDevices } from './auth/devices.ts';
import { TokenRefused } from './auth/token-refused.ts';
import { createVerifier, type Verified } from './auth/verifier.ts';
import type { Config } from './config/schema.ts';
import type { Logger } from './logger.ts';
import type { Issued } from './oidc/access-tokens.ts';
import type { Oidc } from './oidc/open-oidc.ts';
import type { OpenRecord } from './start-record.ts';

/** By what another node knows somebody whom this one has let in. */
export interface HandedOver {
  verified?: Verified | undefined;
  /** By a token of the issuer of the accounts. */
  issued?: Issued | undefined;
  device?: string | undefined;
}

/** Who may come in, by which token or device, and whether that still holds. */
export type Auth = ReturnType<typeof openAuth>;

/** Opens the door for those who bring a token, and for devices that were signed in. */
export function openAuth(
  config: Config,
  { store, log, clock, chance, stateFiles, nodes }: OpenRecord,
  spending: SharedSpending | undefined,
  logger: Logger,
  onFault: (error: unknown) => void,
  oidc?: Pick<Oidc, 'people' | 'tokens'>,
) {
  const warn = (message: string): void => logger.warn({}, message);
  const verifier = createVerifier({ config, stateFiles, now: clock.now, warn });
  const { bad_tokens_per_minute: per_minute, bad_tokens_burst: burst } = config.quota;
  const ownBadTokens = createQuota({ per_minute, burst }, clock);
  const badTokens = spending?.quota('bad tokens', ownBadTokens) ?? ownBadTokens;
  const issued = oidc?.tokens(verifier.isOutside);
  const tokens = createTokenCheck(verifier, badTokens, issued);
  /** Who came from an issuer is out where that issuer is no longer asked. */
  const ended: Authority['ended'] = (grant) =>
    grant.person === undefined ? verifier.ended(grant) : (oidc?.people.ended(grant.person) ?? true);
  /** At another node keys may have been changed, and people signed out. */
  const fresh = (grants: readonly Grant[]): Promise<unknown> => {
    const people = new Map<string, PersonGrant>();
    for (const { person } of grants) if (person) people.set(`${person.workspace_id} ${person.name}`, person);
    return Promise.all([verifier.fresh(), ...[...people.values()].map((one) => oidc?.people.look(one))]);
  };
  const devices = createDevices({
    store,
    log,
    clock,
    chance,
    authority: { ended, fresh },
    onFault,
  });
  const authority: Authority = {
    of: (caller) => devices.grantOf(caller) ?? issued?.grantOf(caller) ?? verifier.grantOf(caller),
    ended,
    fresh,
  };
  const own = createInvitations(clock, chance);
  const invitations = nodes === undefined ? own : shareInvitations(own, nodes);
  const ports: DevicePorts = { invitations, authority };
  return {
    ...ports,
    verifier,
    tokens,
    devices,
    authenticate: createAuthenticate(tokens, devices),
    /** Claims on their way to another node, which holds them by the same key, token or device. */
    handOver: (claims: Claims): HandedOver =>
      devices.grantOf(claims) === undefined
        ? { verified: verifier.origin(claims), issued: issued?.handOver(claims) }
        : { device: claims.session_id },
    takeOver: async ({ verified, issued: brought, device }: HandedOver): Promise<Claims> => {
      if (device !== undefined) return devices.adopt(device);
      if (brought !== undefined && issued !== undefined) return issued.takeOver(brought);
      if (verified === undefined) throw new TokenRefused('no token');
      return verifier.adopt(verified);
    },
    recheck: (claims: Claims): void => {
      if (devices.grantOf(claims) !== undefined) devices.recheck(claims);
      else if (issued?.grantOf(claims) === undefined) verifier.recheck(claims);
      else issued.recheck(claims);
    },
  };
}
