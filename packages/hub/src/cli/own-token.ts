import { randomBytes } from 'node:crypto';

import { issueToken } from '../auth/issue-token.ts';
import type { Config } from '../config/schema.ts';
import { prepareFolder } from '../data-folder.ts';
import { readTokenFile } from './credentials.ts';

/** Where the token of each call comes from; it never stands on a command line. */
export interface TokenSource {
  get(): Promise<string>;
  /** Called when a token was refused; false when there is no other one to be had. */
  refused(): boolean;
}

/** A token that someone else has issued; a file is read anew each time, so that it can be replaced. */
export function givenToken(token: string | undefined, file: string | undefined): TokenSource | undefined {
  if (file !== undefined) return { get: async () => readTokenFile(file), refused: () => false };
  if (token !== undefined) return { get: async () => token, refused: () => false };
  return undefined;
}

export interface Identity {
  agent_id: string | undefined;
  workspace_id: string;
  role: string;
  session_id: string | undefined;
}

const TTL_MS = 12 * 3_600_000;

/** Issues tokens from the data folder for the identity that configuration gives, and renews them in time. */
export function ownTokens(
  config: Config,
  identity: Identity,
  clientName: () => string | undefined,
): TokenSource {
  const ttl_ms = Math.min(TTL_MS, config.auth.max_lifetime_ms);
  let issued: { token: string; until: number } | undefined;
  let named: { agent_id: string; session_id: string } | undefined;

  function nameOnce(): { agent_id: string; session_id: string } {
    const agent_id = identity.agent_id ?? toName(clientName()) ?? 'agent';
    const session_id = identity.session_id ?? `${agent_id.slice(0, 100)}-${randomBytes(4).toString('hex')}`;
    return (named ??= { agent_id, session_id });
  }

  return {
    async get() {
      const now = Date.now();
      if (issued !== undefined && issued.until > now) return issued.token;
      prepareFolder(config.data);
      const { workspace_id, role } = identity;
      const { token } = await issueToken(config, { ...nameOnce(), workspace_id, role, ttl_ms }, now);
      issued = { token, until: now + ttl_ms * 0.9 };
      return token;
    },
    refused() {
      issued = undefined;
      return true;
    },
  };
}

/** A client's own name as an agent id: "Claude Code" becomes claude-code. */
function toName(text: string | undefined): string | undefined {
  const name = (text ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9._@-]+/g, '-')
    .replaceAll(/^[^a-z0-9]+|-+$/g, '')
    .slice(0, 64);
  return name === '' ? undefined : name;
}
