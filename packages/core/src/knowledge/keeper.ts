import type { Chance, Clock } from '../clock.ts';
import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import type { Log } from '../log.ts';
import type { Store } from '../store.ts';
import { treeId } from '../threads/access.ts';
import { takeDue } from '../record-pages.ts';
import { PURGE_AFTER_MS } from './document-records.ts';

/** Does what time asks for: purges documents that were deleted 90 days ago. */
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

/** The keeper of one process; it writes under the hub's own name. */
export function createTreeKeeper({ store, log, clock, chance, everyMs, onFault }: KeeperDeps): TreeKeeper {
  let timer: NodeJS.Timeout | undefined;
  const ending = new AbortController();

  const head = (workspaceId: string) => commandHead({ clock, chance }, hubCaller(workspaceId));

  async function sweep(): Promise<void> {
    const due_by = new Date(clock.trusted() - PURGE_AFTER_MS).toISOString();
    await takeDue(store, { kind: 'document', mark: 'deleted', due_by }, async (workspace_id, roots) => {
      for (const { document_id } of roots)
        for (let more = true; more && !ending.signal.aborted;) {
          const thread_id = treeId(workspace_id);
          const command = { type: 'purge_document', ...head(workspace_id), thread_id } as const;
          const { result } = await log.append({ ...command, input: { document_id } });
          more = result.more;
        }
    });
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
