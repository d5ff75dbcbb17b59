import { randomBytes } from 'node:crypto';

import { checkAddress, ParleyError } from '@parley/protocol';
import type { FoundHub } from '@parley/supervisor';

import type { RunSettings } from '../config/run-settings.ts';
import { findHub } from './find-hub.ts';
import { localTokens } from './local-tokens.ts';
import { ownCommand } from './own-command.ts';
import { givenToken, type TokensOf, type TokenSource } from '../auth/token-source.ts';

/** Who a session is at the hub and where that is, as the command line says it. */
export interface SessionOptions {
  role?: string;
  session?: string;
  url?: string;
  tokenFile?: string;
}

export interface HubFinder {
  /** Looks each time anew: the hub of the data folder may come back at another address. Throws while there is none. */
  find: () => Promise<FoundHub>;
  /** The token was refused: the next one is a fresh one. */
  renew: () => void;
}

/** Finds the hub for a session that this process has in its hands. */
export function createHubFinder(
  loaded: RunSettings,
  options: SessionOptions,
  agent: string,
  tokensOf: TokensOf,
): HubFinder {
  const { config } = loaded;
  const { env } = process;
  const address = options.url ?? env['PARLEY_URL'];
  if (address !== undefined) checkAddress(address);
  const given = givenToken(env['PARLEY_TOKEN'], options.tokenFile ?? env['PARLEY_TOKEN_FILE']);
  const identity = {
    agent_id: agent,
    workspace_id: config.workspace,
    role: options.role ?? env['PARLEY_ROLE'] ?? 'worker',
    session_id:
      options.session ?? env['PARLEY_SESSION'] ?? `${agent.slice(0, 100)}-${randomBytes(4).toString('hex')}`,
  };
  const own = tokensOf(config, identity, () => undefined);
  const tokens: TokenSource =
    given ?? (identity.role === 'worker' ? localTokens(identity, () => findHub(config.data), own) : own);
  return {
    async find() {
      const found = findHub(config.data);
      const url = (address ?? found?.url)?.replace(/\/+$/, '');
      if (url === undefined)
        throw new ParleyError(
          'UNAVAILABLE',
          `no hub runs on ${config.data} (start one with: ${ownCommand(loaded)} serve)`,
        );
      if (given === undefined && url !== found?.url)
        throw new ParleyError('UNAUTHORIZED', `${url} is not the hub of the data folder and needs a token`);
      return { url, token: () => tokens.get() };
    },
    renew: () => void tokens.refused(),
  };
}
