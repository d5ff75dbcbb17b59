import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Config } from '../../../config/schema.ts';
import { findHub } from '../../find-hub.ts';

/** The hub a demo plays on. */
export interface DemoHub {
  url: string;
  config: Config;
  /** It was started for the demo and is gone after it. */
  passing: boolean;
  close(): Promise<void>;
}

/** The hub that runs on the data folder, or else a passing one in a folder of its own. */
export async function openDemoHub(config: Config): Promise<DemoHub> {
  const found = findHub(config.data);
  if (found !== undefined) return { url: found.url, config, passing: false, close: async () => {} };
  const folder = mkdtempSync(join(tmpdir(), 'parley-demo-'));
  const clean = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', clean);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(130));
  const { start } = await import('../../../start.ts');
  const { createLogger } = await import('../../../logger.ts');
  const own: Config = { ...config, data: folder, host: '127.0.0.1', port: 0, tls: { cert: '', key: '' } };
  const hub = await start(own, createLogger('silent').log);
  return {
    url: hub.url,
    config: own,
    passing: true,
    async close() {
      await hub.close();
      clean();
    },
  };
}
