import { createPrivateKey, randomUUID, sign } from 'node:crypto';
import { join } from 'node:path';

import { NAME_PATTERN, RESERVED_NAMES, fieldsOf } from '@parley/protocol';

import type { Config } from '../config/schema.ts';
import { readPrivateFile } from '../data-folder.ts';
import type { TokenRequest } from './issue-token.ts';
import { findSigningKey, KEY_FILE } from './signing-key.ts';

/** The roles that people and their agents take on the command line; any other is for the schema to judge. */
const USUAL_ROLES = new Set(['operator', 'worker']);

/** As much of a record in the key file as signing takes. */
interface Key {
  kid: string;
  created_at: string;
  retired_at?: string;
  private?: Record<string, string>;
}

/**
 * A token of the data folder's own key, without the schemas of keys and claims, which take longer to load than the rest
 * of a command. Undefined where anything is not as usual: then `issueToken` decides, and says what is wrong.
 */
export function quickToken(
  {
    data,
    store = '',
    auth,
  }: Pick<Config, 'data'> &
    Partial<Pick<Config, 'store'>> & {
      auth: Pick<Config['auth'], 'issuer' | 'audience'>;
    },
  { ttl_ms, ...identity }: TokenRequest,
  now: number,
): string | undefined {
  const { agent_id, workspace_id, session_id, role } = identity;
  // Where the keys are in a database, only a look there tells which one signs.
  if (store !== '') return undefined;
  const areNames = [agent_id, workspace_id, session_id].every((name) => NAME_PATTERN.test(name));
  if (!areNames || RESERVED_NAMES.includes(agent_id.toLowerCase()) || !USUAL_ROLES.has(role))
    return undefined;
  const key = findSigningKey(readKeys(data), now);
  if (key?.private === undefined || typeof key.kid !== 'string') return undefined;
  const iat = Math.floor(now / 1_000);
  const claims = {
    ...identity,
    iat,
    exp: iat + Math.ceil(ttl_ms / 1_000),
    jti: `tok_${randomUUID()}`,
    iss: auth.issuer,
    aud: auth.audience,
  };
  const text = `${part({ alg: 'EdDSA', kid: key.kid, typ: 'JWT' })}.${part(claims)}`;
  try {
    const privateKey = createPrivateKey({ key: key.private, format: 'jwk' });
    if (privateKey.asymmetricKeyType !== 'ed25519') return undefined;
    return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
  } catch {
    return undefined;
  }
}

/** The keys of the folder; none where the file is missing or is not what it should be. */
function readKeys(folder: string): Key[] {
  const text = readPrivateFile(join(folder, KEY_FILE));
  try {
    const { keys } = fieldsOf(JSON.parse(text ?? '{}'));
    return Array.isArray(keys) ? keys.filter((key) => key !== null && typeof key === 'object') : [];
  } catch {
    return [];
  }
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
