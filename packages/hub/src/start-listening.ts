import type { Config } from './config/schema.ts';
import type { HubAddress } from './hub-address.ts';
import type { Lan } from './lan/open-lan.ts';
import { type ServerOptions, startServer } from './server.ts';

/** Where a hub listens. */
interface Listening {
  url: string;
  lan: Omit<Lan, 'close'> | undefined;
  close(): Promise<void>;
}

/** Opens the port of the hub, and the one on the local network where it is wanted; from then on the hub has its address. */
export async function listen(
  config: Config,
  serving: Pick<ServerOptions, 'faces' | 'onRefusal'>,
  address: Pick<HubAddress, 'found' | 'onLan'>,
  now: () => number,
  onFault: (error: unknown) => void,
): Promise<Listening> {
  const server = await startServer({ config, ...serving });
  address.found(server.url);
  try {
    // What few hubs need is loaded where it is wanted.
    const lan = config.lan.enabled
      ? await (await import('./lan/open-lan.ts')).openLan(config, serving, now, onFault)
      : undefined;
    if (lan !== undefined) address.onLan(lan.url, lan.named);
    return {
      url: server.url,
      lan,
      close: async () => void (await Promise.all([lan?.close(), server.close()])),
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}
