import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import type { RecordPorts } from '../ports.ts';
import { takeDue } from '../record-pages.ts';
import { createSweeper, type Sweeper } from '../sweeper.ts';

type KeeperDeps = Pick<RecordPorts, 'store' | 'log' | 'clock' | 'chance'> & {
  everyMs: number;
  onFault: (error: unknown) => void;
};

/** Forgets nonces whose tokens would be refused anyway; it writes under the hub's own name. */
export function createNonceKeeper(deps: KeeperDeps): Sweeper {
  const { store, log, clock } = deps;
  return createSweeper(async () => {
    const query = { kind: 'nonce', mark: 'used', due_by: clock.trusted() } as const;
    await takeDue(store, query, async (workspaceId, used) => {
      const input = { keys: used.map(({ key }) => key) };
      await log.append({ type: 'forget_nonces', ...commandHead(deps, hubCaller(workspaceId)), input });
    });
  }, deps);
}
