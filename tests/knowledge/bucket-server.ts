import { createHash, createVerify, generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

import { AwsClient } from 'aws4fetch';

/** How a service lets its signed URLs in, and what a hub needs to sign for it. */
export interface BucketService {
  name: 'gcs' | 's3';
  prefix: 'X-Goog-' | 'X-Amz-';
  credentials: Record<string, string>;
  isSigned(request: IncomingMessage): boolean | Promise<boolean>;
}

/** Google Cloud Storage as it documents its signatures; written apart from the hub's own signer. */
export function googleService(): BucketService {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const private_key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  return {
    name: 'gcs',
    prefix: 'X-Goog-',
    credentials: { client_email: 'svc@acme.example', private_key },
    isSigned({ url = '', method, headers }) {
      const [path = '', query = ''] = url.split('?');
      const [signed = '', signature = ''] = query.split('&X-Goog-Signature=');
      const time = new URLSearchParams(signed).get('X-Goog-Date') ?? '';
      const scope = `${time.slice(0, 8)}/auto/storage/goog4_request`;
      const canonical = `${method}\n${path}\n${signed}\nhost:${headers.host?.split(':')[0]}\n\nhost\nUNSIGNED-PAYLOAD`;
      const digest = createHash('sha256').update(canonical).digest('hex');
      const text = `GOOG4-RSA-SHA256\n${time}\n${scope}\n${digest}`;
      return createVerify('RSA-SHA256').update(text).verify(publicKey, signature, 'hex');
    },
  };
}

/** S3: what comes in is signed again by a signer that others wrote, and must be the same. */
export function amazonService(region: string): BucketService {
  const key = { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: 'a/secret+that=nobody/else+knows' };
  const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = key;
  const other = new AwsClient({ accessKeyId, secretAccessKey, service: 's3', region });
  return {
    name: 's3',
    prefix: 'X-Amz-',
    credentials: key,
    async isSigned({ url = '', method = '', headers }) {
      const given = new URL(url, `http://${headers.host}`);
      const { 'X-Amz-Date': datetime = '', 'X-Amz-Expires': expires = '' } = Object.fromEntries(
        given.searchParams,
      );
      const [year, month, day, hour, minute, second] = [
        [0, 4],
        [4, 6],
        [6, 8],
        [9, 11],
        [11, 13],
        [13, 15],
      ].map(([from, to]) => Number(datetime.slice(from, to))) as [
        number,
        number,
        number,
        number,
        number,
        number,
      ];
      const end = Date.UTC(year, month - 1, day, hour, minute, second) + Number(expires) * 1_000;
      if (!(end >= Date.now())) return false;
      const bare = new URL(given);
      for (const name of given.searchParams.keys())
        if (name.startsWith('X-Amz-') && name !== 'X-Amz-Expires') bare.searchParams.delete(name);
      const signed = await other.sign(bare.href, { method, aws: { signQuery: true, datetime } });
      const wanted = new URL(signed.url).searchParams;
      return (
        given.searchParams.size === wanted.size &&
        [...wanted].every(([name, value]) => given.searchParams.get(name) === value)
      );
    },
  };
}

/** A bucket that takes what is signed as its service has it, and nothing else. */
export async function startBucket(service: BucketService) {
  const objects = new Map<string, Buffer>();
  const state = { objects, broken: false, endpoint: '', close: async (): Promise<void> => {} };
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://bucket');
    const send = (status: number): void => void response.writeHead(status).end();
    if (state.broken) return send(503);
    if (!(await service.isSigned(request))) return send(403);
    if (request.method === 'PUT') {
      // S3 takes no body of unknown length.
      if (request.headers['content-length'] === undefined) return send(411);
      objects.set(pathname, body);
      return send(200);
    }
    if (!objects.has(pathname)) return send(404);
    const type = searchParams.get('response-content-type') ?? 'application/octet-stream';
    const disposition = searchParams.get('response-content-disposition') ?? 'inline';
    response.writeHead(200, { 'content-type': type, 'content-disposition': disposition });
    response.end(objects.get(pathname));
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  state.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.close = () => new Promise((resolve) => server.close(() => resolve()));
  return state;
}
