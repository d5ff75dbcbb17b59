import type { IncomingMessage } from 'node:http';

import type { Config } from './config/schema.ts';
import { HttpRefusal } from './exchange.ts';

/** Headers by which it is decided who asks, what for, and where a request ends: each counts once. */
const SINGLE: ReadonlySet<string> = new Set([
  'host',
  'origin',
  'referer',
  'authorization',
  'content-length',
  'content-type',
  'content-encoding',
  'transfer-encoding',
  'sec-fetch-site',
  'sec-fetch-mode',
]);

/** Refuses two of a header that counts once: whoever stands before the hub may have looked at the other one. */
function refuseRepeated({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): void {
  // Mostly none is repeated, which shows in how many names there are.
  if (Object.keys(headers).length * 2 === rawHeaders.length) return;
  const seen: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]?.toLowerCase() ?? '';
    if (!SINGLE.has(name)) continue;
    if (seen.includes(name))
      throw new HttpRefusal(400, 'VALIDATION_ERROR', `send the header ${name} once`, { connection: 'close' });
    seen.push(name);
  }
}

/**
 * Refuses what is ambiguous, and what a browser was tricked into sending: a foreign Host (DNS rebinding) or a foreign
 * Origin.
 */
export function createGuard(
  config: Config,
  port: number,
  only?: readonly string[],
): (request: IncomingMessage) => void {
  const names = new Set(
    only ?? [
      'localhost',
      '127.0.0.1',
      '[::1]',
      config.host.toLowerCase(),
      ...config.http.allowed_hosts.map((name) => name.toLowerCase()),
    ],
  );
  const hosts = new Set(
    [...names].flatMap((name) =>
      name.includes(':') && !name.startsWith('[') ? [name] : [name, `${name}:${port}`],
    ),
  );
  const own = (name: string): string[] =>
    // What has names of its own has TLS.
    only === undefined ? [`http://${name}:${port}`, `https://${name}:${port}`] : [`https://${name}:${port}`];
  const origins = new Set([
    ...(only === undefined ? config.http.allowed_origins : []),
    ...[...names].flatMap(own),
  ]);
  return (request) => {
    refuseRepeated(request);
    const { headers } = request;
    const host = headers.host?.toLowerCase();
    if (host === undefined || !hosts.has(host))
      throw new HttpRefusal(403, 'FORBIDDEN', 'this Host is not served here');
    const { origin } = headers;
    if (origin !== undefined && !origins.has(origin))
      throw new HttpRefusal(403, 'FORBIDDEN', 'this Origin may not call the hub');
  };
}
