import { createHash, type X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ParleyError } from '@parley/protocol';

import { profileOf } from './apple-profile.ts';
import { setupHtml, SETUP_STYLE } from './setup-html.ts';

export interface SetupPage {
  url: string;
  close(): Promise<void>;
}

interface SetupOptions {
  address: string;
  name: string;
  port: number;
  authority: X509Certificate;
  /** Where the dashboard is, over TLS. */
  dashboard: string;
}

const STYLE_HASH = createHash('sha256').update(SETUP_STYLE).digest('base64');

/** A page over plain HTTP that gives out the authority's certificate and how to install it, and nothing else. */
export async function startSetupPage({
  address,
  name,
  port,
  authority,
  dashboard,
}: SetupOptions): Promise<SetupPage> {
  const files: Record<string, { type: string; body: Buffer | string; save?: string }> = {
    '/': {
      type: 'text/html; charset=utf-8',
      body: setupHtml({ dashboard, fingerprint: authority.fingerprint256 }),
    },
    '/parley.mobileconfig': {
      type: 'application/x-apple-aspen-config',
      body: profileOf(authority),
      save: 'parley.mobileconfig',
    },
    '/parley.crt': { type: 'application/x-x509-ca-cert', body: authority.raw, save: 'parley.crt' },
    '/parley.pem': { type: 'application/x-pem-file', body: authority.toString(), save: 'parley.pem' },
  };
  let hosts: string[] = [];
  const server = createServer({ maxHeaderSize: 8_192 }, ({ method, url = '/', headers }, response) => {
    const file = Object.hasOwn(files, url) ? files[url] : undefined;
    const status = !hosts.includes(headers.host?.toLowerCase() ?? '')
      ? 403
      : method !== 'GET' && method !== 'HEAD'
        ? 405
        : file === undefined
          ? 404
          : 200;
    response.writeHead(status, {
      'content-type': status === 200 && file !== undefined ? file.type : 'text/plain; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      ...(status === 200 && file?.save !== undefined
        ? { 'content-disposition': `attachment; filename="${file.save}"` }
        : {}),
    });
    response.end(status === 200 && method === 'GET' ? file?.body : undefined);
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 10_000;
  server.maxConnections = 200;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new ParleyError('UNAVAILABLE', `lan.setup_port: ${error.message}`)),
    );
    server.listen(port, address, resolve);
  });
  // It listens at a port.
  const { port: taken } = server.address() as AddressInfo;
  hosts = [name, address].map((host) => `${host}:${taken}`);
  return {
    url: `http://${address}:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
