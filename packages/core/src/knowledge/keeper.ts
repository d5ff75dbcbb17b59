import { ENTRY_SALT_BOUND } from '@parley/protocol';

import type { Chance, Clock } from '../clock.ts';
import { hubCaller } from '../hub-caller.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store.ts';
import { treeId } from '../threads/access.ts';
import { isForgotten } from './kept.ts';

/** Does what time asks for: purges documents that were deleted 90 days ago, forgets nonces that have run out. */
export interface TreeKeeper {
  /** Looks at once, and again from time to time. */
  start(): Promise<void>;
  sweep(): Promise<void>;
  close(): void;
}

interface KeeperDeps {
  store: Store;
  log: Log;
  clock: Clock;
  chance: Chance;
  everyMs: number;
  onFault: (error: unknown) => void;
}

const LOOKED_AT = 100_000;

/** The keeper of one process; it writes under the hub's own name. */
export function createTreeKeeper({ store, log, clock, chance, everyMs, onFault }: KeeperDeps): TreeKeeper {
  let timer: NodeJS.Timeout | undefined;
  const ending = new AbortController();

  const head = (workspaceId: string) => ({
    caller: hubCaller(workspaceId),
    now: clock.now(),
    salt: chance.below(ENTRY_SALT_BOUND),
  });

  async function purge(): Promise<void> {
    const roots = await store.records({
      kind: 'document',
      workspace_id: undefined,
      marks: ['deleted'],
      limit: LOOKED_AT,
    });
    for (const { document_id, workspace_id, ...root } of roots) {
      if (!isForgotten(root, clock.trusted())) continue;
      for (let more = true; more && !ending.signal.aborted;) {
        const thread_id = treeId(workspace_id);
        const command = { type: 'purge_document', ...head(workspace_id), thread_id } as const;
        const { result } = await log.append({ ...command, input: { document_id } });
        more = result['more'] === true;
      }
    }
  }

  async function forget(): Promise<void> {
    const used = await store.records({
      kind: 'nonce',
      workspace_id: undefined,
      marks: ['used'],
      limit: LOOKED_AT,
    });
    const over = used.filter(({ until }) => until <= clock.trusted());
    for (const workspace_id of new Set(over.map((one) => one.workspace_id))) {
      const keys = over.filter((one) => one.workspace_id === workspace_id).map(({ key }) => key);
      await log.append({ type: 'forget_nonces', ...head(workspace_id), input: { keys } });
    }
  }

  async function sweep(): Promise<void> {
    await purge();
    await forget();
  }

  return {
    async start() {
      timer = setInterval(() => void sweep().catch(onFault), everyMs).unref();
      await sweep().catch(onFault);
    },
    sweep,
    close() {
      ending.abort();
      clearInterval(timer);
    },
  };
}
