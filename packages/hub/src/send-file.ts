import type { Exchange } from './exchange.ts';
import type { WebFile } from './web-files.ts';

/** Only what the hub itself serves runs, is shown or is called; markup from outside cannot become script. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "font-src 'none'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify parley',
].join('; ');

/** What every answer of this face carries. */
export const SAFE_HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // An old browser shows by it alone that it is on our page; nobody else is told.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
} as const;

/** Sends a file of the web app, packed where the browser takes it, or says that it has not changed. */
export function sendFile({ request, response, request_id }: Exchange, file: WebFile): void {
  const accepts = /\bgzip\b/.test(request.headers['accept-encoding']?.toString() ?? '');
  const packed = accepts ? file.gzip : undefined;
  const bytes = packed ?? file.bytes;
  const head: Record<string, string | number> = {
    ...SAFE_HEADERS,
    'content-type': file.type,
    etag: file.etag,
    vary: 'accept-encoding',
    'cache-control': file.lasting ? 'public, max-age=31536000, immutable' : 'no-cache',
    'x-request-id': request_id,
  };
  if (request.headers['if-none-match']?.includes(file.etag) === true) {
    response.writeHead(304, head);
    response.end();
    return;
  }
  if (packed !== undefined) head['content-encoding'] = 'gzip';
  response.writeHead(200, { ...head, 'content-length': bytes.length });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}
