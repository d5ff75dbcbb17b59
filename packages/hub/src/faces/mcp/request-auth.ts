import type { AuthInfo, ServerContext } from '@modelcontextprotocol/server';
import type { Claims } from '@parley/protocol';

/** What travels beside each request through the SDK: who sent it, and under which id it is on record. */
export interface RequestAuth {
  claims: Claims;
  request_id: string;
}

/** Verified claims in the SDK's words; the token itself stays outside. */
export function toAuthInfo(auth: RequestAuth): AuthInfo {
  const { agent_id, role, exp, jti } = auth.claims;
  return { token: jti, clientId: agent_id, scopes: [role], expiresAt: exp, extra: { ...auth } };
}

/** The claims of a request; nothing in its payload or `_meta` can change them. */
export function requestAuth(ctx: ServerContext): RequestAuth {
  const extra = ctx.http?.authInfo?.extra;
  if (extra === undefined) throw new Error('a request reached the hub without claims');
  // The face put it there, and the SDK hands it on untyped.
  return extra as unknown as RequestAuth;
}
