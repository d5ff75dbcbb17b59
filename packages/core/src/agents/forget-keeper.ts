import { commandHead } from '../command-head.ts';
import type { Ports } from '../ports.ts';
import { everyRecord } from '../record-pages.ts';
import type { RecordsQuery } from '../records.ts';
import { hubCaller } from '../hub-caller.ts';
import { journalId } from '../threads/access.ts';
import { createSweeper, type Sweeper } from '../sweeper.ts';
import { isRunOnce } from './forget.ts';

type KeeperDeps = Pick<Ports, 'store' | 'log' | 'clock' | 'chance' | 'links' | 'presence' | 'patience'> & {
  /** How long one must have been gone; 0 keeps all of them. */
  afterMs: number;
  onFault: (error: unknown) => void;
};

const EVERY_MS = 600_000;
/** So many at most in one sweep: others want to write too. */
const AT_ONCE = 200;

/**
 * Takes programs off the list that were run once, said nothing, and have been gone for long; it writes under the hub's
 * own name.
 */
export function createForgetKeeper(deps: KeeperDeps): Sweeper {
  const { store, log, clock, links, presence, patience, afterMs, onFault } = deps;
  /** After whom the next sweep goes on: those who have to stay must not keep it from those behind them. */
  let lookedAt: RecordsQuery['after'];

  /** Who is in a thread, or has asked, has something to be remembered by. */
  async function isInvolved(workspace_id: string, agent: string): Promise<boolean> {
    const query = { workspace_id, participant: agent, reader: '', status: undefined, unread: false };
    const page = await store.threads({ ...query, limit: 1, max_bytes: 1, before: undefined });
    // A page may come out short of much: nobody knows then, and who may be involved stays.
    if (page.rows.length > 0 || page.next !== undefined) return true;
    return (await store.records({ kind: 'ask', workspace_id, owner: agent, limit: 1 })).length > 0;
  }

  async function sweep(): Promise<void> {
    if (afterMs === 0) return;
    const before = new Date(clock.trusted() - afterMs).toISOString();
    let over = 0;
    const agents = everyRecord(store, 'agent', undefined, (one) => one.agent_id, lookedAt);
    for await (const agent of agents) {
      if (!isRunOnce(agent) || agent.last_seen >= before) continue;
      if (++over > AT_ONCE) return;
      const { workspace_id, agent_id } = agent;
      lookedAt = { workspace_id, key: agent_id };
      if ((links.of(workspace_id).get(agent_id) ?? []).length > 0) continue;
      if (presence.ofAgent(workspace_id, agent_id).length > 0) continue;
      if (await isInvolved(workspace_id, agent_id)) continue;
      await log.append({
        type: 'forget_once',
        ...commandHead(deps, hubCaller(workspace_id)),
        thread_id: journalId(workspace_id, agent_id),
        input: { of_agent: agent_id, offline_after_ms: patience.offlineAfterMs, before },
      });
    }
    lookedAt = undefined;
  }

  const everyMs = Math.min(EVERY_MS, Math.max(1_000, afterMs));
  return createSweeper(sweep, { everyMs, onFault });
}
