import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIPv4 } from 'node:net';

/** Whoever signs: an authority, or a certificate itself. */
export interface Signer {
  name: string;
  key: KeyObject;
  /** Its public key as it stands in certificates. */
  publicKey: Buffer;
}

/** What a new certificate is to say. */
export interface NewCertificate {
  name: string;
  now: number;
  days: number;
  /** The authority that signs; without it the certificate is an authority and signs itself. */
  by?: Signer;
  /** The names and IPv4 addresses of a server, or what an authority may sign for, addresses with their mask. */
  names: readonly string[];
}

export interface Issued extends Signer {
  pem: string;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** An X.509 certificate with a new P-256 key: an authority bound to some names, or a server it vouches for. */
export function issueCertificate({ name, now, days, by, names }: NewCertificate): Issued {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' });
  const own = { name, key: pair.privateKey, publicKey };
  const signer = by ?? own;
  const serial = randomBytes(16);
  // A positive number without leading zeros.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 1;
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(serial),
    ECDSA_SHA256,
    distinguished(signer.name),
    // Clocks of tablets run behind now and then.
    sequence(moment(now - HOUR_MS), moment(now + days * DAY_MS)),
    distinguished(name),
    publicKey,
    tagged(
      3,
      sequence(
        ...(by === undefined ? authorityFields(names) : serverFields(names)),
        ...keyFields(own, signer),
      ),
    ),
  );
  const der = sequence(body, ECDSA_SHA256, bits(sign('sha256', body, signer.key)));
  return { ...own, pem: new X509Certificate(der).toString() };
}

function authorityFields(permitted: readonly string[]): Buffer[] {
  const subtrees = permitted.map((one) => sequence(generalName(one)));
  return [
    // An authority that signs servers and no further authorities.
    extension('2.5.29.19', true, sequence(TRUE, integer(Buffer.from([0])))),
    extension('2.5.29.15', true, bits(Buffer.from([0x06]), 1)),
    extension('2.5.29.30', true, sequence(tagged(0, ...subtrees))),
  ];
}

function serverFields(names: readonly string[]): Buffer[] {
  return [
    extension('2.5.29.19', true, sequence()),
    extension('2.5.29.15', true, bits(Buffer.from([0x80]), 7)),
    extension('2.5.29.37', false, sequence(objectId('1.3.6.1.5.5.7.3.1'))),
    extension('2.5.29.17', false, sequence(...names.map(generalName))),
  ];
}

function keyFields(own: Signer, signer: Signer): Buffer[] {
  const keyId = ({ publicKey }: Signer): Buffer => createHash('sha1').update(publicKey).digest();
  return [
    extension('2.5.29.14', false, octets(keyId(own))),
    extension('2.5.29.35', false, sequence(encoded(0x80, keyId(signer)))),
  ];
}

/** A host name, an IPv4 address, or a network as address/mask. */
function generalName(text: string): Buffer {
  const [address = '', mask] = text.split('/');
  if (!isIPv4(address)) return encoded(0x82, Buffer.from(text));
  const parts = [address, ...(mask === undefined ? [] : [mask])];
  return encoded(0x87, Buffer.from(parts.flatMap((part) => part.split('.').map(Number))));
}

function encoded(tag: number, ...content: Buffer[]): Buffer {
  const value = Buffer.concat(content);
  const { length } = value;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), value]);
}

const sequence = (...parts: Buffer[]): Buffer => encoded(0x30, ...parts);
const octets = (value: Buffer): Buffer => encoded(0x04, value);
const integer = (value: Buffer): Buffer => encoded(0x02, value);
const bits = (value: Buffer, unused = 0): Buffer => encoded(0x03, Buffer.from([unused]), value);
const tagged = (number: number, ...parts: Buffer[]): Buffer => encoded(0xa0 | number, ...parts);
const TRUE = encoded(0x01, Buffer.from([255]));
const ECDSA_SHA256 = sequence(objectId('1.2.840.10045.4.3.2'));

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectId(id), ...(critical ? [TRUE] : []), octets(value));
}

function distinguished(commonName: string): Buffer {
  return sequence(encoded(0x31, sequence(objectId('2.5.4.3'), encoded(0x0c, Buffer.from(commonName)))));
}

function moment(ms: number): Buffer {
  const date = new Date(ms);
  const text = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050
    ? encoded(0x17, Buffer.from(text.slice(2)))
    : encoded(0x18, Buffer.from(text));
}

function objectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part & 127];
    for (let left = part >> 7; left > 0; left >>= 7) digits.unshift((left & 127) | 128);
    bytes.push(...digits);
  }
  return encoded(0x06, Buffer.from(bytes));
}
