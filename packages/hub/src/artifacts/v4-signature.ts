import { createHash, createHmac, createSign } from 'node:crypto';

/** The part of a service account's file that is needed. */
export interface ServiceAccount {
  client_email: string;
  private_key: string;
}

/** A key of S3, and the region in which it signs. */
export interface AccessKey {
  access_key_id: string;
  secret_access_key: string;
  region: string;
}

/** Who signs, and in whose words: Google's V4 and Amazon's differ in their names, what is signed of the host, and the key. */
export interface V4Signer {
  /** How the parameters that belong to the signature begin. */
  prefix: 'X-Goog-' | 'X-Amz-';
  algorithm: string;
  id: string;
  /** For what a signature of one day is good. */
  scope: string;
  host(url: URL): string;
  sign(text: string, day: string): string;
}

/** A request to a bucket that is to be signed. */
export interface BucketRequest {
  method: 'GET' | 'PUT';
  /** Such as https://storage.googleapis.com. */
  endpoint: string;
  /** The bucket and the object in it. */
  path: string;
  /** Further parameters of the query. */
  query?: Record<string, string>;
  at: Date;
  expiresSec: number;
}

/** Signs as Google Cloud Storage has it, by the key of a service account. */
export function googleSigner({ client_email, private_key }: ServiceAccount): V4Signer {
  return {
    prefix: 'X-Goog-',
    algorithm: 'GOOG4-RSA-SHA256',
    id: client_email,
    scope: 'auto/storage/goog4_request',
    host: ({ hostname }) => hostname,
    sign: (text) => createSign('RSA-SHA256').update(text).sign(private_key, 'hex'),
  };
}

/** Signs as S3 has it, by a key that is derived anew for each day, region and service. */
export function amazonSigner({ access_key_id, secret_access_key, region }: AccessKey): V4Signer {
  const scope = `${region}/s3/aws4_request`;
  return {
    prefix: 'X-Amz-',
    algorithm: 'AWS4-HMAC-SHA256',
    id: access_key_id,
    scope,
    host: ({ host }) => host,
    sign(text, day) {
      const key = [day, ...scope.split('/')].reduce<string | Buffer>(
        (secret, part) => createHmac('sha256', secret).update(part).digest(),
        `AWS4${secret_access_key}`,
      );
      return createHmac('sha256', key).update(text).digest('hex');
    },
  };
}

/** What is signed of a request, and the URL that lacks only the signature. */
export function prepareV4(request: BucketRequest, signer: V4Signer): { url: string; text: string } {
  const { method, endpoint, path, query = {}, at, expiresSec } = request;
  const { prefix, algorithm, id } = signer;
  const time = at.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const scope = `${dayOf(at)}/${signer.scope}`;
  const server = new URL(endpoint);
  const encodedPath = `/${path.split('/').map(encode).join('/')}`;
  const parameters = Object.entries({
    ...query,
    [`${prefix}Algorithm`]: algorithm,
    [`${prefix}Credential`]: `${id}/${scope}`,
    [`${prefix}Date`]: time,
    [`${prefix}Expires`]: String(expiresSec),
    [`${prefix}SignedHeaders`]: 'host',
  })
    .map(([name, value]) => [encode(name), encode(value)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map((pair) => pair.join('='))
    .join('&');
  const host = `host:${signer.host(server)}`;
  const canonical = [method, encodedPath, parameters, host, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const digest = createHash('sha256').update(canonical).digest('hex');
  return {
    url: `${server.origin}${encodedPath}?${parameters}`,
    text: [algorithm, time, scope, digest].join('\n'),
  };
}

/** A URL that is good for this one request until it has run out. */
export function signV4(request: BucketRequest, signer: V4Signer): string {
  const { url, text } = prepareV4(request, signer);
  return `${url}&${signer.prefix}Signature=${signer.sign(text, dayOf(request.at))}`;
}

function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10).replaceAll('-', '');
}

/** As RFC 3986 has it: all but letters, digits and - . _ ~ */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
