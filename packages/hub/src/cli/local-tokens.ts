import { type HubFile, LOCAL_TOKEN_PATH, ParleyError, fieldsOf } from '@parley/protocol';
import { plainSend } from '@parley/supervisor/plain-send';

import type { Identity, TokenSource } from '../auth/token-source.ts';

const ASK_MS = 5_000;
/** How much of a token's life is used before another is asked for. */
const USED = 0.9;

/**
 * Tokens from the hub that runs on this user's own data folder: a worker's, and no more. Nothing is signed here, so that
 * nothing need be loaded for it. `otherwise` serves where there is no such hub, or one that does not give them.
 */
export function localTokens(
  identity: Identity & { agent_id: string; session_id: string },
  hub: () => HubFile | undefined,
  otherwise: TokenSource,
): TokenSource {
  let held: { token: string; until: number } | undefined;
  return {
    async get() {
      if (held !== undefined && held.until > Date.now()) return held.token;
      const found = hub();
      if (found?.key === undefined) return otherwise.get();
      held = await ask(found.url, found.key, identity);
      return held.token;
    },
    refused() {
      held = undefined;
      return otherwise.refused();
    },
  };
}

async function ask(
  url: string,
  key: string,
  { agent_id, session_id, workspace_id }: Identity,
): Promise<{ token: string; until: number }> {
  const response = await plainSend(`${url}${LOCAL_TOKEN_PATH}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ agent_id, session_id, workspace_id }),
    signal: AbortSignal.timeout(ASK_MS),
  });
  const { token, expires_at, error } = fieldsOf(await response.json());
  const { message = `status ${response.status}` } = fieldsOf(error);
  if (!response.ok || typeof token !== 'string')
    throw new ParleyError('UNAUTHORIZED', `the hub gave no token: ${String(message)}`);
  const left = Date.parse(String(expires_at)) - Date.now();
  return { token, until: Date.now() + (Number.isNaN(left) ? 0 : left * USED) };
}
