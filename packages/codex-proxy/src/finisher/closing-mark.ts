import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { fieldsOf } from '@parley/protocol';
import { makeFolderSync, writeWholeSync } from '@parley/files';

import { RpcError } from '../errors.ts';
import type { Identities } from '../identity/identities.ts';
import type { Log } from '../logger.ts';

/** A proxy that ends says until when at most its identity stays taken, so that the next one can wait for it. */
export interface ClosingMark {
  set(until: Date): void;
  clear(): void;
  /** Holds the identity; throws IDENTITY_CONFLICT at once unless whoever has it is about to end. */
  holdWhenFree(identities: Identities, identity: string, log: Log): Promise<void>;
}

const LOOK_MS = 50;
/** What a clock that was set, or a file of somebody else, may make anybody wait. */
const MOST_MS = 60_000;

/** The mark stands beside the registry of the identity. */
export function createClosingMark(teamFolder: string, identity: string): ClosingMark {
  const path = join(teamFolder, identity, 'closing.json');

  const until = (): number => {
    try {
      const { until: reported } = fieldsOf(JSON.parse(readFileSync(path, 'utf8')));
      return typeof reported === 'string' ? Date.parse(reported) : 0;
    } catch {
      return 0;
    }
  };
  return {
    set(time) {
      try {
        makeFolderSync(dirname(path));
        writeWholeSync(path, `${JSON.stringify({ until: time.toISOString() })}\n`);
      } catch {
        // The next proxy is refused, then, instead of waiting.
      }
    },
    clear: () => rmSync(path, { force: true }),
    async holdWhenFree(identities, wanted, log) {
      const giveUp = Date.now() + MOST_MS;
      for (let isWaiting = false; ; isWaiting = true) {
        try {
          return identities.hold(wanted);
        } catch (error) {
          if (!(error instanceof RpcError) || Date.now() >= Math.min(until(), giveUp)) throw error;
          if (!isWaiting) log('info', 'waiting for the last proxy of this identity to end', { identity });
          await sleep(LOOK_MS);
        }
      }
    },
  };
}
