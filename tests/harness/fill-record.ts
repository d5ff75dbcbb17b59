import { mkdirSync } from 'node:fs';

import type { Command } from '@parley/core';
import { Client } from 'pg';

import { loadConfig } from '../../packages/hub/src/config/load.ts';
import { createLogger } from '../../packages/hub/src/logger.ts';
import { openStore } from '../../packages/hub/src/open-store.ts';
import { prepareStore } from './store-profile.ts';

const AT_ONCE = 2_000;

/** Puts commands into the record of a hub that does not run yet, wherever it will be. */
export async function fillRecord(data: string, commands: readonly Command[]): Promise<void> {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  await prepareStore(data);
  const { config } = loadConfig({ data }, { XDG_CONFIG_HOME: data });
  const { store } = await openStore(config, createLogger('silent').log);
  for (let i = 0; i < commands.length; i += AT_ONCE) {
    await Promise.all(commands.slice(i, i + AT_ONCE).map((command) => store.transact(command)));
    if (config.store !== '') await analyze(config.store);
  }
  await store.close();
}

/** What a server does by itself within a minute, but for those of the tests: it looks how much there is of what. */
async function analyze(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('ANALYZE parley.records');
  await client.end();
}
