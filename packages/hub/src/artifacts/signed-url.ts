import { createHmac, timingSafeEqual } from 'node:crypto';

import type { ArtifactRecord } from '@parley/core';
import { LIMITS, ParleyError } from '@parley/protocol';

import type { openUrlKeys } from './url-keys.ts';

/** Where signed URLs lead. */
export const ARTIFACT_PATH = '/artifacts/';

/** What a good URL names. */
export interface Named {
  workspace_id: string;
  artifact_id: string;
  sha256: string;
}

const PARAMETERS = ['exp', 'sha256', 'kid', 'sig'] as const;

/** Signs paths of this hub for GET alone, and tells whether one is still as it was signed. */
export function createUrlSigner(keys: ReturnType<typeof openUrlKeys>, now: () => number) {
  return {
    async sign(
      { workspace_id, artifact_id, name, sha256 }: ArtifactRecord,
      untilSec: number,
    ): Promise<string> {
      const { kid, secret } = await keys.current();
      const path = ARTIFACT_PATH + [workspace_id, artifact_id, name].map(encodeURIComponent).join('/');
      const exp = String(untilSec);
      const sig = mac(secret, [path, exp, sha256, kid]).toString('base64url');
      return `${path}?${new URLSearchParams({ exp, sha256, kid, sig }).toString()}`;
    },

    /** The artifact behind a path and its query; whatever was changed or is over is FORBIDDEN. */
    verify(path: string, query: string): Named {
      const given = new URLSearchParams(query);
      const [exp = '', sha256 = '', kid = '', sig = ''] = PARAMETERS.map((name) => given.get(name) ?? '');
      const secret = keys.find(kid)?.secret;
      if (given.size !== PARAMETERS.length || secret === undefined) throw refused();
      const expected = mac(secret, [path, exp, sha256, kid]);
      const found = Buffer.from(sig, 'base64url');
      if (sig !== found.toString('base64url') || found.length !== expected.length) throw refused();
      if (!timingSafeEqual(found, expected)) throw refused();
      const seconds = now() / 1_000;
      // One that lies further ahead was signed under a clock that has been set back since.
      if (Number(exp) < seconds || Number(exp) > seconds + LIMITS.signed_url_sec + 1)
        throw new ParleyError('FORBIDDEN', 'this URL is not good any more; ask for another');
      const [workspace_id = '', artifact_id = ''] = path
        .slice(ARTIFACT_PATH.length)
        .split('/')
        .map(decodeURIComponent);
      return { workspace_id, artifact_id, sha256 };
    },
  };
}

function mac(secret: string, parts: readonly string[]): Buffer {
  return createHmac('sha256', Buffer.from(secret, 'base64url'))
    .update(['GET', ...parts].join('\n'))
    .digest();
}

function refused(): ParleyError {
  return new ParleyError('FORBIDDEN', 'this URL is not one that the hub has signed');
}
