import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import type { RecordPorts } from '../ports.ts';
import { takeDue } from '../record-pages.ts';
import { createSweeper, type Sweeper } from '../sweeper.ts';
import { usageKey } from './usage-sums.ts';

type KeeperDeps = RecordPorts & { keepDays: number; onFault: (error: unknown) => void };

const DAY_MS = 86_400_000;
const EVERY_MS = 6 * 3_600_000;

/** Forgets what was used longer ago than people want to look back. */
export function createUsageKeeper(deps: KeeperDeps): Sweeper {
  const { store, log, clock, keepDays, onFault } = deps;
  const sweep = async (): Promise<void> => {
    const due_by = new Date(clock.trusted() - (keepDays + 1) * DAY_MS).toISOString().slice(0, 10);
    await takeDue(store, { kind: 'usage', mark: 'day', due_by }, async (workspace_id, old) => {
      const input = { keys: old.map(usageKey) };
      await log.append({ type: 'forget_usage', ...commandHead(deps, hubCaller(workspace_id)), input });
    });
  };
  return createSweeper(sweep, { everyMs: EVERY_MS, onFault });
}
