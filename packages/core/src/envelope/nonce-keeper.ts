import type { Chance, Clock } from '../clock.ts';
import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import type { Log } from '../log.ts';
import { takeDue } from '../record-pages.ts';
import type { Store } from '../store.ts';

/** Forgets nonces whose tokens would be refused anyway. */
export interface NonceKeeper {
  /** Looks at once, and again from time to time. */
  start(): Promise<void>;
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
export function createNonceKeeper({ store, log, clock, chance, everyMs, onFault }: KeeperDeps): NonceKeeper {
  let timer: NodeJS.Timeout | undefined;

  async function sweep(): Promise<void> {
    const query = { kind: 'nonce', mark: 'used', due_by: clock.trusted() } as const;
    await takeDue(store, query, async (workspaceId, used) => {
      const head = commandHead({ clock, chance }, hubCaller(workspaceId));
      const input = { keys: used.map(({ key }) => key) };
      await log.append({ type: 'forget_nonces', ...head, input });
    });
  }

  return {
    async start() {
      timer = setInterval(() => void sweep().catch(onFault), everyMs).unref();
      await sweep().catch(onFault);
    },
    close: () => clearInterval(timer),
  };
}
