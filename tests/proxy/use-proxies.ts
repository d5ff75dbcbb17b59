import { afterEach, beforeEach } from 'vitest';

import { openPlace, type Place, type ProxyClient, type ProxyOptions, startProxy } from './proxy-client.ts';

/** For a test file: a fresh place for each test, and proxies that do not outlive it. */
export function useProxies() {
  let current: Place;
  let proxies: ProxyClient[];
  beforeEach(() => {
    current = openPlace();
    proxies = [];
  });
  afterEach(async () => {
    for (const proxy of proxies) await proxy.kill('SIGKILL');
    await current.remove();
  });
  return {
    place: () => current,
    start: async (options: Partial<ProxyOptions> = {}): Promise<ProxyClient> => {
      const proxy = await startProxy({ place: current, ...options });
      proxies.push(proxy);
      return proxy;
    },
  };
}
