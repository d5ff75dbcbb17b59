import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';

import { ParleyError } from '@parley/protocol';
import * as z from 'zod';

import { readPrivateFile, writePrivateFile } from '../data-folder.ts';
import { type Issued, issueCertificate, type Signer } from './certificate.ts';

/** The authority of this hub with its key, and the certificate it gave its own server last. */
export const LAN_FILE = 'lan.json';

/** What an authority that people install may vouch for: names and addresses of local networks, nothing of the Internet. */
export const LOCAL_NAMES = ['local', 'lan', 'internal', 'home.arpa', 'localhost'] as const;
const LOCAL_NETWORKS = [
  '10.0.0.0/255.0.0.0',
  '172.16.0.0/255.240.0.0',
  '192.168.0.0/255.255.0.0',
  '169.254.0.0/255.255.0.0',
  '100.64.0.0/255.192.0.0',
  '127.0.0.0/255.0.0.0',
] as const;

const AUTHORITY_DAYS = 3_650;
const SERVER_DAYS = 90;
/** From then on a new one takes its place. */
const RENEW_DAYS = 30;
const DAY_MS = 86_400_000;

const Pair = z.object({ cert: z.string(), key: z.string() });
const LanFile = z.object({ authority: Pair, server: Pair.extend({ names: z.array(z.string()) }).optional() });
type LanFile = z.infer<typeof LanFile>;

/** What the server on the local network shows, and what devices must trust for it. */
export interface LanCertificate {
  /** PEM: the server's certificate and the authority's. */
  chain: string;
  key: string;
  authority: X509Certificate;
}

/** The certificate for these names and addresses: made once, made anew when they change or it is near its end. */
export function lanCertificate(
  data: string,
  machine: string,
  names: readonly string[],
  now: number,
): LanCertificate {
  const path = join(data, LAN_FILE);
  const file = readLanFile(path) ?? { authority: newAuthority(machine, now) };
  const authority = new X509Certificate(file.authority.cert);
  const isNew = readLanFile(path) === undefined;
  const server = isGood(file.server, names, now)
    ? file.server
    : newServer(file.authority, authority, names, now);
  if (isNew || server !== file.server)
    writePrivateFile(path, `${JSON.stringify({ ...file, server } satisfies LanFile)}\n`);
  return { chain: `${server.cert}${file.authority.cert}`, key: server.key, authority };
}

function readLanFile(path: string): LanFile | undefined {
  const text = readPrivateFile(path);
  if (text === undefined) return undefined;
  try {
    return LanFile.parse(JSON.parse(text));
  } catch {
    throw new ParleyError(
      'UNAVAILABLE',
      `${path} cannot be read; move it away for a new authority, which every device must then install`,
    );
  }
}

type Server = NonNullable<LanFile['server']>;

function isGood(server: LanFile['server'], names: readonly string[], now: number): server is Server {
  if (server === undefined || server.names.join(' ') !== names.join(' ')) return false;
  const { validFrom, validTo } = new X509Certificate(server.cert);
  return Date.parse(validFrom) <= now && Date.parse(validTo) - now > RENEW_DAYS * DAY_MS;
}

function newAuthority(machine: string, now: number): LanFile['authority'] {
  const names = [...LOCAL_NAMES, ...LOCAL_NETWORKS];
  return written(
    issueCertificate({ name: `Parley on ${machine}`.slice(0, 64), now, days: AUTHORITY_DAYS, names }),
  );
}

function newServer(
  pair: LanFile['authority'],
  authority: X509Certificate,
  names: readonly string[],
  now: number,
): Server {
  const key = createPrivateKey(pair.key);
  const by: Signer = {
    name: authority.subject.replace(/^CN=/, ''),
    key,
    publicKey: createPublicKey(key).export({ type: 'spki', format: 'der' }),
  };
  const issued = issueCertificate({
    name: (names[0] ?? 'parley').slice(0, 64),
    now,
    days: SERVER_DAYS,
    by,
    names,
  });
  return { ...written(issued), names: [...names] };
}

function written({ pem, key }: Issued): LanFile['authority'] {
  return { cert: pem, key: key.export({ type: 'pkcs8', format: 'pem' }).toString() };
}
