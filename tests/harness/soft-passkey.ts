import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

import type { NewCredential, PasskeySignature } from '@parley/protocol';

/** What a test may have a device do wrong. */
export interface Signing {
  challenge: string;
  origin: string;
  /** The name that the device believes it signs for; else that of the page. */
  site?: string;
  counter?: number;
  /** False: nobody has shown finger, face or PIN. */
  verified?: boolean;
  crossOrigin?: boolean;
}

/** A device with one passkey, by the letter of WebAuthn: what a browser would send, without a browser. */
export interface SoftPasskey {
  credential_id: string;
  create(signing: Signing): NewCredential;
  get(signing: Signing): PasskeySignature;
}

/** A device with a P-256 key of its own. */
export function softPasskey(): SoftPasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(32);
  const credential_id = id.toString('base64url');
  const cose = cbor(
    new Map<number, number | Buffer>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]),
  );
  return {
    credential_id,
    create(signing) {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const authData = Buffer.concat([head(signing, 0x40), Buffer.alloc(16), length, id, cose]);
      const attestation = cbor(
        new Map<string, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData],
        ]),
      );
      return {
        credential_id,
        client_data: clientData('webauthn.create', signing).toString('base64url'),
        attestation: attestation.toString('base64url'),
      };
    },
    get(signing) {
      const said = clientData('webauthn.get', signing);
      const authenticatorData = head(signing, 0);
      const signed = Buffer.concat([authenticatorData, createHash('sha256').update(said).digest()]);
      return {
        credential_id,
        client_data: said.toString('base64url'),
        authenticator_data: authenticatorData.toString('base64url'),
        signature: sign('sha256', signed, privateKey).toString('base64url'),
      };
    },
  };
}

function clientData(type: string, { challenge, origin, crossOrigin = false }: Signing): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }));
}

/** For which name, who was there, and how often it was used. */
function head(signing: Signing, more: number): Buffer {
  const { origin, site = new URL(origin).hostname, counter = 0, verified = true } = signing;
  const count = Buffer.alloc(4);
  count.writeUInt32BE(counter);
  const flags = 0x01 | (verified ? 0x04 : 0) | more;
  return Buffer.concat([createHash('sha256').update(site).digest(), Buffer.from([flags]), count]);
}

/** As much of CBOR as a passkey needs. */
function cbor(value: unknown): Buffer {
  if (typeof value === 'number') return value < 0 ? size(1, -1 - value) : size(0, value);
  if (typeof value === 'string') return Buffer.concat([size(3, value.length), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([size(2, value.length), value]);
  if (!(value instanceof Map)) throw new Error('a passkey has nothing else');
  return Buffer.concat([size(5, value.size), ...[...value].flat().map(cbor)]);
}

function size(kind: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(kind << 5) | length]);
  if (length < 256) return Buffer.from([(kind << 5) | 24, length]);
  return Buffer.from([(kind << 5) | 25, length >> 8, length & 255]);
}
