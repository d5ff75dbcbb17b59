import type { Config } from '../config/schema.ts';
import { type RunningServer, startServer, type ServerOptions } from '../server.ts';
import { lanPlace } from './lan-place.ts';
import { lanCertificate } from './own-authority.ts';
import { startSetupPage } from './setup-page.ts';

/** The hub on the local network: the dashboard over TLS, and a plain page that lets devices trust it. */
export interface Lan {
  /** By its address, which every device finds. */
  url: string;
  /** By its name, where the network knows it. */
  named: string;
  /** The page that installs the authority. */
  setup: string;
  /** SHA-256 of the authority's certificate, to be compared. */
  fingerprint: string;
  close(): Promise<void>;
}

/** How often a running hub looks whether its certificate is near its end. */
const LOOK_MS = 12 * 3_600_000;

/** Serves the same faces on the local network, beside the loopback address that everything here goes on using. */
export async function openLan(
  config: Config,
  server: Pick<ServerOptions, 'faces' | 'onRefusal'>,
  now: () => number,
  onFault: (error: unknown) => void,
): Promise<Lan> {
  const { address, name, machine } = lanPlace(config.lan);
  const certificate = () => lanCertificate(config.data, machine, [name, address], now());
  const first = certificate();
  const secure: RunningServer = await startServer({
    ...server,
    config: { ...config, host: address, port: config.lan.port },
    lan: { names: [name, address], tls: { cert: first.chain, key: first.key } },
  });
  const { port } = new URL(secure.url);
  const fingerprint = first.authority.fingerprint256;
  const setup = await startSetupPage({
    address,
    name,
    port: config.lan.setup_port,
    authority: first.authority,
    dashboard: secure.url,
  }).catch(async (error: unknown) => {
    await secure.close();
    throw error;
  });
  const timer = setInterval(() => {
    try {
      const { chain, key } = certificate();
      secure.renew({ cert: chain, key });
    } catch (error) {
      onFault(error);
    }
  }, LOOK_MS).unref();
  return {
    url: secure.url,
    named: `https://${name}:${port}`,
    setup: setup.url,
    fingerprint,
    async close() {
      clearInterval(timer);
      await Promise.all([secure.close(), setup.close()]);
    },
  };
}
