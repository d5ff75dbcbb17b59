import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import type { RecordPorts } from '../ports.ts';
import { takeDue } from '../record-pages.ts';
import { createSweeper, type Sweeper } from '../sweeper.ts';
import { treeId } from '../threads/access.ts';
import { PURGE_AFTER_MS } from './document-records.ts';

type KeeperDeps = Pick<RecordPorts, 'store' | 'log' | 'clock' | 'chance'> & {
  everyMs: number;
  onFault: (error: unknown) => void;
};

/** Purges documents that were deleted 90 days ago; it writes under the hub's own name. */
export function createTreeKeeper(deps: KeeperDeps): Sweeper {
  const { store, log, clock } = deps;
  return createSweeper(async (closing) => {
    const due_by = new Date(clock.trusted() - PURGE_AFTER_MS).toISOString();
    await takeDue(store, { kind: 'document', mark: 'deleted', due_by }, async (workspace_id, roots) => {
      for (const { document_id } of roots)
        for (let more = true; more && !closing.aborted;) {
          const head = { ...commandHead(deps, hubCaller(workspace_id)), thread_id: treeId(workspace_id) };
          const { result } = await log.append({ type: 'purge_document', ...head, input: { document_id } });
          more = result.more;
        }
    });
  }, deps);
}
