import type { StateFiles } from '@parley/core';
import { AgentName, ENVELOPE_ROLES, type EnvelopeRole, ParleyError } from '@parley/protocol';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, importSPKI, type JWK } from 'jose';
import * as z from 'zod';

import { findSigningKey, KEY_FILE } from './signing-key.ts';

const DAY_MS = 86_400_000;

/** A key is refused after this age; no setting raises it. */
export const MAX_KEY_AGE_MS = 90 * DAY_MS;

/** From this age on, its use is warned about. */
export const WARN_KEY_AGE_MS = 80 * DAY_MS;

const KeyRecord = z.object({
  kid: z.string().min(1),
  created_at: z.iso.datetime(),
  retired_at: z.iso.datetime().optional(),
  /** Tokens of this key may only speak for this workspace. */
  workspace: z.string().optional(),
  /** Of a house outside: signs envelopes of its own, each with a nonce, and no tokens of the platform. */
  external: z.literal(true).optional(),
  /** The most that an outsider may be: a role of the envelope. */
  role: z.enum(ENVELOPE_ROLES).optional(),
  /** The one whom it may speak for, under that very name; without it, its names end with the key. */
  subject: z.string().optional(),
  /** What `iss` must be. */
  issuer: z.string().optional(),
  /** A JWS must name the hub as its audience; without this it may name none, as in the claims that the contract lists. */
  audience: z.literal('required').optional(),
  public: z.record(z.string(), z.unknown()),
  /** Present on the hub's own keys alone. */
  private: z.record(z.string(), z.unknown()).optional(),
});
export type KeyRecord = z.infer<typeof KeyRecord>;

const KeyFile = z.object({
  keys: z.array(KeyRecord),
  revoked: z.array(z.object({ jti: z.string(), at: z.iso.datetime(), until: z.iso.datetime() })),
});
export type KeyFile = z.infer<typeof KeyFile>;

/** The file with the hub's keys and revocations: written by the command line, watched by the running hub. */
export { KEY_FILE };

/** The keys and revocations as they stand; empty before the first start. */
export function readKeyFile(stateFiles: Pick<StateFiles, 'look'>): KeyFile {
  return keysIn(stateFiles.look(KEY_FILE).text);
}

/** The keys and revocations that a text holds. */
export function keysIn(text: string | undefined): KeyFile {
  if (text === undefined) return { keys: [], revoked: [] };
  try {
    return parseKeyFile(text);
  } catch {
    throw new ParleyError(
      'UNAVAILABLE',
      `${KEY_FILE} cannot be read as a key file; restore it from a backup`,
    );
  }
}

/** The content of a key file; throws on anything else. */
export function parseKeyFile(text: string): KeyFile {
  return KeyFile.parse(JSON.parse(text));
}

/** Changes keys and revocations, nobody else at the same time; nothing is written when the change throws. */
export async function changeKeyFile<T>(
  stateFiles: StateFiles,
  change: (file: KeyFile) => Promise<T> | T,
): Promise<T> {
  let result: T | undefined;
  await stateFiles.change(KEY_FILE, async (text) => {
    const file = keysIn(text);
    const before = JSON.stringify(file);
    result = await change(file);
    return JSON.stringify(file) === before ? undefined : `${JSON.stringify(file, null, 2)}\n`;
  });
  // The change has run, or it would have thrown.
  return result as T;
}

/** The key the hub signs with: made when there is none, replaced in time before its own rule refuses it. */
export async function signingKey(stateFiles: StateFiles, now: number): Promise<KeyRecord> {
  await stateFiles.fresh();
  const current = findSigningKey(readKeyFile(stateFiles).keys, now);
  if (current !== undefined) return current;
  return changeKeyFile(stateFiles, async (file) => findSigningKey(file.keys, now) ?? addOwnKey(file, now));
}

/** Makes a new signing key; tokens of the older ones stay valid until they are retired or too old. */
export async function addOwnKey(file: KeyFile, now: number): Promise<KeyRecord> {
  const pair = await generateKeyPair('EdDSA', { extractable: true });
  const publicJwk = await exportJWK(pair.publicKey);
  const record: KeyRecord = {
    kid: await nameOf(publicJwk),
    created_at: new Date(now).toISOString(),
    public: { ...publicJwk },
    private: { ...(await exportJWK(pair.privateKey)) },
  };
  file.keys.push(record);
  return record;
}

/** What is said of a key when it is registered. */
export interface NewKey {
  kid?: string;
  workspace?: string;
  external?: true;
  role?: EnvelopeRole;
  subject?: string;
  issuer?: string;
  requireAudience?: true;
  /** The key that it takes over the subject from; until that one is retired both speak for it. */
  replaces?: string;
}

/** Registers someone else's Ed25519 public key (PEM or JWK), so that tokens it signs are accepted. */
export async function addPublicKey(
  file: KeyFile,
  now: number,
  text: string,
  options: NewKey,
): Promise<KeyRecord> {
  const { external, role, subject, issuer, requireAudience } = options;
  if (external === true && options.workspace === undefined)
    throw new ParleyError('VALIDATION_ERROR', 'an external key needs --workspace');
  if (external !== true && (role ?? subject ?? issuer ?? requireAudience) !== undefined)
    throw new ParleyError(
      'VALIDATION_ERROR',
      '--role, --subject, --issuer and --require-audience are for keys with --external',
    );
  if (subject !== undefined && !AgentName.safeParse(subject).success)
    throw new ParleyError('VALIDATION_ERROR', `--subject: ${subject} is not a name that an agent may have`);
  requireFreeSubject(file, options);
  const jwk = await parsePublicKey(text);
  const kid = options.kid ?? jwk.kid ?? (await nameOf(jwk));
  if (file.keys.some((key) => key.kid === kid))
    throw new ParleyError('CONFLICT', `a key named ${kid} is there already`);
  const record: KeyRecord = {
    kid,
    created_at: new Date(now).toISOString(),
    ...(options.workspace === undefined ? {} : { workspace: options.workspace }),
    ...(external === true ? { external, role: role ?? 'agent' } : {}),
    ...(subject === undefined ? {} : { subject }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(requireAudience === true ? { audience: 'required' as const } : {}),
    public: { kty: jwk.kty, crv: jwk.crv, x: jwk.x },
  };
  file.keys.push(record);
  return record;
}

/** A subject belongs to one key; two have it while one takes the place of the other. */
function requireFreeSubject(file: KeyFile, { workspace, subject, replaces }: NewKey): void {
  const holders = file.keys.filter(
    (key) => key.subject === subject && key.workspace === workspace && key.retired_at === undefined,
  );
  if (replaces !== undefined && (subject === undefined || !holders.some(({ kid }) => kid === replaces)))
    throw new ParleyError(
      'VALIDATION_ERROR',
      `--replaces: no key named ${replaces} speaks for that --subject`,
    );
  const other = subject === undefined ? undefined : holders.find(({ kid }) => kid !== replaces);
  if (other !== undefined)
    throw new ParleyError(
      'CONFLICT',
      `${subject} belongs to the key ${other.kid}; retire that one first, or add --replaces ${other.kid} and retire it later`,
    );
}

/** A thumbprint alone may begin with a dash, and the command line would take it for an option. */
async function nameOf(jwk: JWK): Promise<string> {
  return `key_${await calculateJwkThumbprint(jwk)}`;
}

async function parsePublicKey(text: string): Promise<JWK> {
  try {
    const jwk = text.trimStart().startsWith('{')
      ? // jose refuses what is none.
        (JSON.parse(text) as JWK)
      : await exportJWK(await importSPKI(text, 'EdDSA', { extractable: true }));
    if (jwk.kty !== 'OKP' || jwk.crv !== 'Ed25519' || typeof jwk.x !== 'string')
      throw new Error('another kind of key');
    await importJWK({ kty: jwk.kty, crv: jwk.crv, x: jwk.x }, 'EdDSA');
    return jwk;
  } catch {
    throw new ParleyError('VALIDATION_ERROR', 'the key must be an Ed25519 public key as PEM (SPKI) or JWK');
  }
}

/** Takes a key out of use at once; its tokens are refused from the next request on. */
export function retireKey(file: KeyFile, kid: string, now: number): KeyRecord {
  const key = file.keys.find((candidate) => candidate.kid === kid);
  if (key === undefined) throw new ParleyError('NOT_FOUND', `there is no key named ${kid}`);
  key.retired_at ??= new Date(now).toISOString();
  return key;
}

/** So many revocations are kept whatever the clock says: one that is wrong must not give a token back. */
const KEPT_REVOCATIONS = 1_000;

/** Takes one token out of use at once; of very many, those are forgotten that would have expired anyway. */
export function revokeToken(file: KeyFile, jti: string, now: number): void {
  if (file.revoked.length >= KEPT_REVOCATIONS)
    file.revoked = file.revoked.filter(({ until }) => Date.parse(until) > now);
  if (file.revoked.some((revoked) => revoked.jti === jti)) return;
  file.revoked.push({
    jti,
    at: new Date(now).toISOString(),
    until: new Date(now + MAX_KEY_AGE_MS).toISOString(),
  });
}
