import { randomBytes } from 'node:crypto';

import { issueToken } from './issue-token.ts';
import type { RunSettings } from '../config/run-settings.ts';
import { prepareFolder } from '../data-folder.ts';
import type { Identity, TokenSource } from './token-source.ts';

const TTL_MS = 12 * 3_600_000;

/** Issues tokens from the data folder for the identity that configuration gives, and renews them in time. */
export function ownTokens(
  config: RunSettings['config'],
  identity: Identity,
  clientName: () => string | undefined,
): TokenSource {
  const ttl_ms = Math.min(TTL_MS, config.auth.max_lifetime_ms);
  let issued: { token: string; until: number } | undefined;
  let issuing: Promise<string> | undefined;
  let named: { agent_id: string; session_id: string } | undefined;

  function nameOnce(): { agent_id: string; session_id: string } {
    const agent_id = identity.agent_id ?? toName(clientName()) ?? 'agent';
    const session_id = identity.session_id ?? `${agent_id.slice(0, 100)}-${randomBytes(4).toString('hex')}`;
    return (named ??= { agent_id, session_id });
  }

  async function issue(now: number): Promise<string> {
    prepareFolder(config.data);
    const { workspace_id, role } = identity;
    const { token } = await issueToken(config, { ...nameOnce(), workspace_id, role, ttl_ms }, now);
    issued = { token, until: now + ttl_ms * 0.9 };
    return token;
  }

  return {
    async get() {
      const now = Date.now();
      if (issued !== undefined && issued.until > now) return issued.token;
      // Two at once would stand in each other's way at the keys.
      issuing ??= issue(now).finally(() => (issuing = undefined));
      return issuing;
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
