import type { IncomingMessage } from 'node:http';

import type { Config } from './config/schema.ts';
import { HttpRefusal } from './exchange.ts';

/** Refuses what a browser was tricked into sending: a foreign Host (DNS rebinding) or a foreign Origin. */
export function createGuard(config: Config, port: number): (request: IncomingMessage) => void {
  const names = new Set([
    'localhost',
    '127.0.0.1',
    '[::1]',
    config.host.toLowerCase(),
    ...config.http.allowed_hosts.map((name) => name.toLowerCase()),
  ]);
  const hosts = new Set(
    [...names].flatMap((name) =>
      name.includes(':') && !name.startsWith('[') ? [name] : [name, `${name}:${port}`],
    ),
  );
  const origins = new Set([
    ...config.http.allowed_origins,
    ...[...names].flatMap((name) => [`http://${name}:${port}`, `https://${name}:${port}`]),
  ]);
  return ({ headers }) => {
    const host = headers.host?.toLowerCase();
    if (host === undefined || !hosts.has(host))
      throw new HttpRefusal(403, 'FORBIDDEN', 'this Host is not served here');
    const { origin } = headers;
    if (origin !== undefined && !origins.has(origin))
      throw new HttpRefusal(403, 'FORBIDDEN', 'this Origin may not call the hub');
  };
}
