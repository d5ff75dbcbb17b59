import { isLegacyRequest, PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/server';

import { fieldsOf } from '@parley/protocol';

import { createLegacySessions, type SessionLimits } from './legacy-sessions.ts';
import { createModern, type McpRequest } from './modern.ts';
import type { Surface } from './surface.ts';

/** Whoever answers a request in the words of its own revision. */
export interface Revisions {
  answer(request: McpRequest): Promise<void>;
  close(): Promise<void>;
}

/** The newest revision and the older ones side by side. */
export function createRevisions(
  surface: Surface,
  sessions: SessionLimits,
  now: () => number,
  onFault: (error: Error) => void,
): Revisions {
  const modern = createModern(surface, onFault);
  const legacy = createLegacySessions(surface, sessions, now, onFault);
  return {
    async answer(request) {
      const { web, body } = request;
      const isModern = claimsRevision(body) || !(await isLegacyRequest(web, body));
      await (isModern ? modern : legacy).answer(request);
    },
    close: () => legacy.close(),
  };
}

/** True for what only the newest revision sends: it needs no second look at the whole message to be told apart. */
function claimsRevision(body: unknown): boolean {
  const { method, params } = fieldsOf(body);
  const { _meta: meta } = fieldsOf(params);
  return (
    method !== 'initialize' &&
    meta !== null &&
    typeof meta === 'object' &&
    Object.hasOwn(meta, PROTOCOL_VERSION_META_KEY)
  );
}
