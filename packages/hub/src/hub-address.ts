import type { Config } from './config/schema.ts';

/** Where people and other programs find the hub. */
export interface HubAddress {
  get: () => string;
  /** Where devices of people find it: on the local network, if it is there. */
  ofDesk: () => string;
  onLan: (url: string) => void;
  /** The server listens here. */
  found: (url: string) => void;
}

/** The first web origin that the configuration names, else where the server listens. */
export function createHubAddress({ http }: Pick<Config, 'http'>): HubAddress {
  const named = http.allowed_origins.find((origin) => origin.startsWith('https://'));
  let listening = '';
  let local: string | undefined;
  return {
    get: () => named ?? listening,
    ofDesk: () => named ?? local ?? listening,
    onLan: (url) => (local = url),
    found: (url) => (listening = url),
  };
}
