import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE = 12;
const TAG = 16;

/** What sealing adds to a message. */
export const SEAL_BYTES = NONCE + TAG;

/** Closes bytes so that only who has the key can read or make them: what serves the nodes serves others too. */
export function seal(key: Buffer, bytes: Buffer): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const body = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), body]);
}

/** The bytes that were sealed; undefined for what was not sealed with this key. */
export function unseal(key: Buffer, sealed: Buffer): Buffer | undefined {
  if (sealed.length < SEAL_BYTES) return undefined;
  const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE), { authTagLength: TAG });
  cipher.setAuthTag(sealed.subarray(NONCE, SEAL_BYTES));
  try {
    return Buffer.concat([cipher.update(sealed.subarray(SEAL_BYTES)), cipher.final()]);
  } catch {
    return undefined;
  }
}
