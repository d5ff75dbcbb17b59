import { hubCaller } from '@parley/core';
import { openSqliteStore } from '@parley/store-sqlite';
import { mkdirSync } from 'node:fs';

import type { AgentStateRecord } from '../../packages/core/src/agents/stretch.ts';

type State = AgentStateRecord['state'];

/** One thing that an agent was at: for how many minutes, why, and what it waited for. */
export type PastState = [
  state: State,
  minutes: number,
  reason?: string,
  more?: Pick<AgentStateRecord, 'waits_for' | 'thread_id'>,
];

/** Puts days into the record of a hub that does not run yet, as the hub itself would have written them. */
export async function writePast(
  data: string,
  workspace_id: string,
  /** By agent, the oldest first; the last of each ends now. */
  past: Record<string, readonly PastState[]>,
): Promise<void> {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  const store = await openSqliteStore({
    folder: data,
    onFault: (message) => {
      throw new Error(message);
    },
  });
  const now = Date.now();
  for (const [agent_id, states] of Object.entries(past)) {
    let at = now - states.reduce((sum, [, minutes]) => sum + minutes, 0) * 60_000;
    const records = states.map(([state, minutes, reason = state, more = {}]): AgentStateRecord => {
      const from = new Date(at).toISOString();
      at += minutes * 60_000;
      return {
        agent_id,
        workspace_id,
        state,
        reason,
        since: from,
        from,
        until: new Date(at).toISOString(),
        ...more,
      };
    });
    await store.transact({
      type: 'note_agent_states',
      caller: hubCaller(workspace_id),
      now,
      salt: 1,
      input: { states: records, drops: [] },
    });
  }
  await store.close();
}
