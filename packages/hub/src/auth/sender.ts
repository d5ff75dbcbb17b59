import type { IncomingMessage } from 'node:http';

import { commandHead, type Grant, type HeadPorts, type Log } from '@parley/core';
import { type Caller, ParleyError } from '@parley/protocol';

import { type Authenticate, bearerToken, type TokenCheck } from './authenticate.ts';
import { peerOf } from './peer.ts';
import { TokenRefused } from './token-refused.ts';
import type { Verifier } from './verifier.ts';

/** Who sends an envelope: one of the platform, or one outside. */
export interface Sender {
  caller: Caller;
  /** The name by which it calls itself. */
  sub: string;
  external: boolean;
  /** What its right rests on: what it sends for later ends with that. */
  grant: Grant | undefined;
}

/** Finds out who sends an envelope. */
export interface SenderCheck {
  /** `admit` sees who it is before the nonce of one outside is spent, and may refuse. */
  verify(request: IncomingMessage, admit: (sender: Sender) => void): Promise<Sender>;
  /** Refuses an envelope for another workspace than its sender's. */
  checkTenant(sender: Sender, tenant: string): void;
}

interface SenderDeps extends HeadPorts {
  verifier: Verifier;
  authenticate: Authenticate;
  tokens: TokenCheck;
  /** What the right of one of the platform rests on. */
  grantOf: (caller: Caller) => Grant | undefined;
  log: Log;
}

const HUB_ROLE = { owner: 'operator', editor: 'orchestrator', agent: 'worker', viewer: 'observer' } as const;

/** Takes tokens of the platform, and of outsiders a JWS whose nonce was never used before. */
export function createSenderCheck(deps: SenderDeps): SenderCheck {
  const { verifier, authenticate, tokens, log } = deps;
  async function outsider(
    request: IncomingMessage,
    admit: (sender: Sender) => void,
  ): Promise<Sender | undefined> {
    const found = await verifier.external(bearerToken(request));
    if (found === undefined) return undefined;
    const { kid, workspace_id, agent_id, sub, role, nonce, until } = found;
    const session_id = `jws:${kid.replaceAll(/[^\w.@-]/g, '-').slice(0, 120)}`;
    const caller: Caller = { agent_id, workspace_id, role: HUB_ROLE[role], session_id };
    const sender: Sender = { caller, sub, external: true, grant: { kid, devices: [] } };
    admit(sender);
    try {
      await log.append({ type: 'use_nonce', ...commandHead(deps, caller), input: { kid, nonce, until } });
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'UNAUTHORIZED')
        throw new TokenRefused('a used nonce', 'nonce_used');
      throw error;
    }
    return sender;
  }

  return {
    async verify(request, admit) {
      try {
        const sender = await outsider(request, admit);
        if (sender !== undefined) return sender;
      } catch (error) {
        throw tokens.refuse(error, peerOf(request));
      }
      const caller = await authenticate(request);
      const sender: Sender = {
        caller,
        sub: caller.agent_id,
        external: false,
        grant: deps.grantOf(caller),
      };
      admit(sender);
      return sender;
    },
    checkTenant({ caller }, tenant) {
      if (caller.workspace_id === tenant) return;
      throw new ParleyError('OUT_OF_SCOPE_WORKSPACE', 'tenant_id: differs from the workspace of your token', {
        field: 'tenant_id',
        hint: 'name the workspace that your token or key was made for',
      });
    },
  };
}
