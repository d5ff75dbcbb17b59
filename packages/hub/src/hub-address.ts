import type { Config } from './config/schema.ts';
import { passkeyOrigins } from './passkey-origins.ts';

/** Where people and other programs find the hub. */
export interface HubAddress {
  get: () => string;
  /** Where this very process listens, whatever stands before it. */
  ofProcess: () => string;
  /** Where devices of people find it: on the local network, if it is there. */
  ofDashboard: () => string;
  /** The addresses of its own pages that have a name: those at which passkeys work. */
  named: () => string[];
  onLan: (url: string, named: string) => void;
  /** The server listens here. */
  found: (url: string) => void;
}

/** The address that the configuration names, else its first https origin, else where the server listens. */
export function createHubAddress({ http }: Pick<Config, 'http'>): HubAddress {
  const named =
    http.base_url === ''
      ? http.allowed_origins.find((origin) => origin.startsWith('https://'))
      : http.base_url;
  let listening = '';
  let local: string | undefined;
  let localNamed: string | undefined;
  return {
    get: () => named ?? listening,
    ofProcess: () => listening,
    ofDashboard: () => named ?? local ?? listening,
    named: () => passkeyOrigins(http, listening, localNamed),
    onLan(url, withName) {
      local = url;
      localNamed = withName;
    },
    found: (url) => (listening = url),
  };
}
