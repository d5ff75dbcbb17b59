import { createHash, createSign } from 'node:crypto';

/** Who signs: the part of a service account's file that is needed. */
export interface ServiceAccount {
  client_email: string;
  private_key: string;
}

/** A request to a bucket that is to be signed. */
export interface BucketRequest {
  method: 'GET' | 'PUT';
  /** Such as https://storage.googleapis.com. */
  endpoint: string;
  bucket: string;
  object: string;
  /** Further parameters of the query. */
  query?: Record<string, string>;
  at: Date;
  expiresSec: number;
}

const ALGORITHM = 'GOOG4-RSA-SHA256';

/** Google Cloud Storage, V4 signing process: what is signed, and the URL that lacks only the signature. */
export function prepareV4(request: BucketRequest, email: string): { url: string; text: string } {
  const { method, endpoint, bucket, object, query = {}, at, expiresSec } = request;
  const time = at.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const scope = `${time.slice(0, 8)}/auto/storage/goog4_request`;
  const { origin, hostname } = new URL(endpoint);
  const path = `/${bucket}/${object.split('/').map(encode).join('/')}`;
  const parameters = Object.entries({
    ...query,
    'X-Goog-Algorithm': ALGORITHM,
    'X-Goog-Credential': `${email}/${scope}`,
    'X-Goog-Date': time,
    'X-Goog-Expires': String(expiresSec),
    'X-Goog-SignedHeaders': 'host',
  })
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join('&');
  const canonical = [method, path, parameters, `host:${hostname}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const digest = createHash('sha256').update(canonical).digest('hex');
  return { url: `${origin}${path}?${parameters}`, text: [ALGORITHM, time, scope, digest].join('\n') };
}

/** A URL that is good for this one request until it has run out. */
export function signV4(request: BucketRequest, { client_email, private_key }: ServiceAccount): string {
  const { url, text } = prepareV4(request, client_email);
  const signature = createSign('RSA-SHA256').update(text).sign(private_key, 'hex');
  return `${url}&X-Goog-Signature=${signature}`;
}

/** As RFC 3986 has it: all but letters, digits and - . _ ~ */
function encode(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
