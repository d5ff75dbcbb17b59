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
  /** Gives the identity back, and only then takes the mark away: without one, whoever has it is not about to end. */
  release(identities: Identities): void;
  /** Holds the identity; throws IDENTITY_CONFLICT at once unless whoever has it is about to end. */
  holdWhenFree(identities: Identities, identity: string, log: Log): Promise<void>;
}

const LOOK_MS = 50;
/** What a clock that was set, or a file of somebody else, may make anybody wait. */
const MOST_MS = 60_000;

/** The mark stands beside the registry of the identity. */
export function createClosingMark(teamFolder: string, identity: string): ClosingMark {
  const path = join(teamFolder, identity, 'closing.json');

  const read = (): string => {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return '';
    }
  };
  const until = (): number => {
    try {
      const { until: reported } = fieldsOf(JSON.parse(read()));
      return typeof reported === 'string' ? Date.parse(reported) : 0;
    } catch {
      return 0;
    }
  };
  const clear = (): void => rmSync(path, { force: true });
  return {
    set(time) {
      try {
        makeFolderSync(dirname(path));
        writeWholeSync(path, `${JSON.stringify({ until: time.toISOString() })}\n`);
      } catch {
        // The next proxy is refused, then, instead of waiting.
      }
    },
    clear,
    release(identities) {
      const own = read();
      identities.close();
      // The next proxy may have come and gone by now, and have left a mark of its own.
      if (read() === own) clear();
    },
    async holdWhenFree(identities, wanted, log) {
      const giveUp = Date.now() + MOST_MS;
      for (let isWaiting = false; ; isWaiting = true) {
        // Looked at first: a mark that goes while the identity is tried for goes with the identity.
        const closesBy = until();
        try {
          return identities.hold(wanted);
        } catch (error) {
          if (!(error instanceof RpcError) || Date.now() >= Math.min(closesBy, giveUp)) throw error;
          if (!isWaiting) log('info', 'waiting for the last proxy of this identity to end', { identity });
          await sleep(LOOK_MS);
        }
      }
    },
  };
}
