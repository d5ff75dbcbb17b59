import { randomUUID } from 'node:crypto';

import type { StateFiles } from '@parley/core';
import { Claims, issueWords, ParleyError } from '@parley/protocol';
import { importJWK, SignJWT } from 'jose';

import type { Config } from '../config/schema.ts';
import { type StateFilesPlace, withStateFiles } from '../state-files/with-state-files.ts';
import { signingKey } from './key-file.ts';

export interface TokenRequest {
  agent_id: string;
  workspace_id: string;
  role: string;
  session_id: string;
  ttl_ms: number;
}

export interface IssuedToken {
  token: string;
  jti: string;
  expires_at: string;
}

/** Signs a token with the hub's own key; works where its keys are kept, whether the hub runs or not. */
export async function issueToken(
  config: StateFilesPlace & {
    auth: Pick<Config['auth'], 'issuer' | 'audience' | 'max_lifetime_ms'>;
  },
  request: TokenRequest,
  now: number,
  stateFiles?: StateFiles,
): Promise<IssuedToken> {
  const { ttl_ms, ...identity } = request;
  if (ttl_ms <= 0 || ttl_ms > config.auth.max_lifetime_ms) {
    throw new ParleyError(
      'VALIDATION_ERROR',
      `ttl: must be more than 0 and at most ${Math.floor(config.auth.max_lifetime_ms / 86_400_000)}d`,
    );
  }
  const iat = Math.floor(now / 1_000);
  const claims = Claims.safeParse({
    ...identity,
    iat,
    exp: iat + Math.ceil(ttl_ms / 1_000),
    jti: `tok_${randomUUID()}`,
  });
  if (!claims.success) {
    const issue = claims.error.issues[0];
    throw new ParleyError('VALIDATION_ERROR', `${issue?.path.join('.') ?? 'claim'}: ${issueWords(issue)}`);
  }
  const sign = (files: StateFiles) => signingKey(files, now);
  const key = await (stateFiles === undefined ? withStateFiles(config, sign) : sign(stateFiles));
  const token = await new SignJWT({ ...claims.data })
    .setProtectedHeader({ alg: 'EdDSA', kid: key.kid, typ: 'JWT' })
    .setIssuer(config.auth.issuer)
    .setAudience(config.auth.audience)
    .sign(await importJWK(key.private ?? {}, 'EdDSA'));
  return { token, jti: claims.data.jti, expires_at: new Date(claims.data.exp * 1_000).toISOString() };
}
