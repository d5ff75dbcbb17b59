import { createHash, timingSafeEqual } from 'node:crypto';

import {
  issueWords,
  LOCAL_ASKS_PATH,
  LOCAL_PASSKEY_PATH,
  LOCAL_TOKEN_PATH,
  type LocalAsks,
  LocalPasskeyRequest,
  type LocalToken,
  LocalTokenRequest,
  ParleyError,
} from '@parley/protocol';
import type { z } from 'zod';

import { tokenOf } from '../../auth/authenticate.ts';
import type { IssuedToken, TokenRequest } from '../../auth/issue-token.ts';
import { peerOf } from '../../auth/peer.ts';
import { TokenRefused } from '../../auth/token-refused.ts';
import { type BodyLimits, type Exchange, HttpRefusal, readJsonBody, sendJson } from '../../exchange.ts';
import type { Face } from '../../server.ts';

export interface LocalOptions {
  /** Written where this user alone can read it, anew with every start. */
  key: string;
  workspace: string;
  maxLifetimeMs: number;
  issue: (request: TokenRequest) => Promise<IssuedToken>;
  /** The workspaces in which asks are open, of all of them: whoever has the key has the whole folder. */
  openAsks: () => Promise<LocalAsks['workspaces']>;
  /** A code by which a person adds a passkey. */
  passkeyCode: (person: string, workspaceId: string) => Promise<{ code: string; expires_at: string }>;
  refuse: (error: unknown, address: string) => unknown;
  limits: BodyLimits;
}

const TTL_MS = 12 * 3_600_000;

const METHODS: ReadonlyMap<string, string> = new Map([
  [LOCAL_TOKEN_PATH, 'POST'],
  [LOCAL_PASSKEY_PATH, 'POST'],
  [LOCAL_ASKS_PATH, 'GET'],
]);

/** Gives programs of the hub's own user a worker's token for each of their agents, no more than that, says where somebody waits, and lets people add passkeys. */
export function createLocalFace(options: LocalOptions): Face {
  const { key, workspace, issue, openAsks, refuse, limits } = options;
  const expected = digest(key);

  const knows = ({ request }: Exchange): boolean => {
    const header = request.headers.authorization;
    return header !== undefined && timingSafeEqual(digest(tokenOf(header)), expected);
  };

  return {
    claims: (path) => METHODS.has(path),
    async handle(exchange) {
      const { request, path } = exchange;
      const method = METHODS.get(path) ?? 'GET';
      if (request.method !== method)
        throw new HttpRefusal(405, 'NOT_FOUND', `use ${method} here`, { allow: method });
      if (!knows(exchange)) throw refuse(new TokenRefused('not the key of this run'), peerOf(request));
      if (path === LOCAL_ASKS_PATH) {
        const answer: LocalAsks = { workspaces: await openAsks() };
        return sendJson(exchange, 200, JSON.stringify(answer));
      }
      const body = await readJsonBody(exchange, limits);
      if (path === LOCAL_PASSKEY_PATH) {
        const { person, workspace_id } = parse(LocalPasskeyRequest, body);
        const given = await options.passkeyCode(person, workspace_id);
        return sendJson(exchange, 200, JSON.stringify(given));
      }
      const { agent_id, session_id, workspace_id = workspace } = parse(LocalTokenRequest, body);
      const ttl_ms = Math.min(TTL_MS, options.maxLifetimeMs);
      const { token, expires_at } = await issue({
        agent_id,
        session_id,
        workspace_id,
        role: 'worker',
        ttl_ms,
      });
      const answer: z.infer<typeof LocalToken> = { token, expires_at };
      sendJson(exchange, 200, JSON.stringify(answer));
    },
  };
}

function parse<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ParleyError('VALIDATION_ERROR', `${issue?.path.join('.') || 'body'}: ${issueWords(issue, body)}`);
}

/** Of equal length whatever was sent, as the comparison wants it. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
