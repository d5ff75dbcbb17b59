import { setTimeout as sleep } from 'node:timers/promises';

import { type HubFile, ParleyError } from '@parley/protocol';

import type { Config } from '../../config/schema.ts';
import { prepareFolder } from '../../data-folder.ts';
import type { RemoteHub } from '../../faces/mcp/stdio/remote-caller.ts';
import type { Logger } from '../../logger.ts';
import { openRequest } from '../../open-request.ts';
import type { RunningHub } from '../../start.ts';
import { findHub } from '../find-hub.ts';
import { UnreachableError } from '../output.ts';

/** A hub that this process found, or runs itself. */
interface NearbyHub extends RemoteHub {
  close(): Promise<void>;
}

/** A hub at a fixed address, run by someone else. */
export function hubAt(url: string): NearbyHub {
  return { url: async () => url.replace(/\/+$/, ''), lost: () => {}, close: async () => {} };
}

const PATIENCE_MS = 15_000;
const PAUSE_MS = 100;

/**
 * The hub of a data folder: the one that runs, or else one in this very process, which others then find. A hub that ran
 * in its own right is waited for when it has gone: whoever runs it would find the folder taken.
 */
export function hubOfFolder(config: Config, log: Logger): NearbyHub {
  let known: Promise<string> | undefined;
  let embedded: RunningHub | undefined;
  let isAwaited = false;
  let closed = false;

  async function find(): Promise<string> {
    prepareFolder(config.data);
    const until = performance.now() + (isAwaited ? config.mcp.return_ms : PATIENCE_MS);
    for (;;) {
      const running = await runningHub(config.data);
      if (running !== undefined) {
        isAwaited = running.embedded !== true;
        return running.url;
      }
      if (isAwaited) {
        if (closed || performance.now() > until)
          throw new UnreachableError(
            `the hub on ${config.data} has gone and is not back yet; start it again with parley serve, or try later`,
          );
        await sleep(PAUSE_MS);
        continue;
      }
      try {
        const { start } = await import('../../start.ts');
        embedded = await start({ ...config, port: 0 }, log, { embedded: true });
        return embedded.url;
      } catch (error) {
        // Another process holds the folder: its hub is starting or stopping.
        const isHeld = error instanceof ParleyError && error.code === 'CONFLICT';
        if (!isHeld) throw error;
      }
      if (closed || performance.now() > until)
        throw new UnreachableError(`no hub answers for ${config.data}, yet one holds it`);
      await sleep(PAUSE_MS);
    }
  }

  return {
    url() {
      if (known === undefined) {
        known = find();
        known.catch(() => (known = undefined));
      }
      return known;
    },
    lost(url) {
      if (embedded?.url !== url) known = undefined;
    },
    async close() {
      closed = true;
      await known?.catch(() => {});
      await embedded?.close();
    },
  };
}

/** The hub that holds the folder, unless it is on its way out. */
async function runningHub(folder: string): Promise<HubFile | undefined> {
  const found = findHub(folder);
  return found !== undefined && (await answers(found.url)) ? found : undefined;
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = openRequest(`${url}/healthz`, { timeout: 2_000 });
    probe.on('response', (response) => {
      response.resume();
      resolve(true);
    });
    probe.on('error', () => resolve(false));
    probe.on('timeout', () => probe.destroy());
    probe.end();
  });
}
