import { isIP } from 'node:net';

import type { Config } from './config/schema.ts';

/**
 * The addresses at which the hub serves its own pages under a name: browsers give no passkeys to addresses of numbers.
 * An origin that the configuration allows is the hub's own where the hub answers to its name.
 */
export function passkeyOrigins(
  { allowed_origins, allowed_hosts }: Pick<Config['http'], 'allowed_origins' | 'allowed_hosts'>,
  listening: string,
  lan: string | undefined,
): string[] {
  const served = new Set(allowed_hosts.map((host) => host.toLowerCase().replace(/:\d+$/, '')));
  const own = allowed_origins.filter(
    (origin) => URL.canParse(origin) && served.has(new URL(origin).hostname),
  );
  return [...own, ...local(listening), ...(lan === undefined ? [] : [lan])]
    .filter((origin) => isNamed(new URL(origin).hostname))
    .map((origin) => new URL(origin).origin);
}

/** What listens on the loopback address is called localhost; elsewhere its own name counts. */
function local(listening: string): string[] {
  if (listening === '') return [];
  const url = new URL(listening);
  if (/^(?:127\.|\[::1\]$)/.test(url.hostname)) url.hostname = 'localhost';
  return [url.origin];
}

function isNamed(hostname: string): boolean {
  return !hostname.startsWith('[') && isIP(hostname) === 0;
}
