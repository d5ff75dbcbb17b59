import { commandHead } from '../command-head.ts';
import { hubCaller } from '../hub-caller.ts';
import type { RecordPorts } from '../ports.ts';
import { takeDue } from '../record-pages.ts';
import { usageKey } from './usage-sums.ts';

type KeeperDeps = RecordPorts & { keepDays: number; onFault: (error: unknown) => void };

const DAY_MS = 86_400_000;
const EVERY_MS = 6 * 3_600_000;

/** Forgets what was used longer ago than people want to look back. */
export function createUsageKeeper(deps: KeeperDeps) {
  const { store, log, clock, keepDays, onFault } = deps;
  let timer: NodeJS.Timeout | undefined;

  async function sweep(): Promise<void> {
    const due_by = new Date(clock.trusted() - (keepDays + 1) * DAY_MS).toISOString().slice(0, 10);
    await takeDue(store, { kind: 'usage', mark: 'day', due_by }, async (workspace_id, old) => {
      const input = { keys: old.map(usageKey) };
      await log.append({ type: 'forget_usage', ...commandHead(deps, hubCaller(workspace_id)), input });
    });
  }

  return {
    start() {
      const look = (): void => void sweep().catch(onFault);
      timer = setInterval(look, EVERY_MS).unref();
      look();
    },
    sweep,
    close: () => clearInterval(timer),
  };
}
