import { openMemoryStore } from '../../packages/core/src/store-memory.ts';
import { entriesOf, type OperationName } from '@parley/protocol';

import { openSampleHub } from '../../packages/core/src/sample-hub.ts';
import { EXAMPLE_IDS, EXAMPLES } from '../../packages/hub/src/faces/v1/openapi/examples.ts';

/** A call as one would make it, and what the hub answered. */
export interface Example {
  asked: unknown;
  answered: unknown;
}

const ALICE = {
  agent_id: 'alice',
  workspace_id: 'default',
  role: 'orchestrator',
  session_id: 'alice-1',
} as const;
const BEGIN = Date.parse('2026-11-15T09:00:00.000Z');

/** The examples of the contracts, carried out by a hub whose clock and chance are always the same. */
export async function exampleCalls(): Promise<ReadonlyMap<OperationName, Example>> {
  const clock = { now: BEGIN };
  const hub = openSampleHub(openMemoryStore(), clock);
  const done = new Map<OperationName, Example>();
  const ids: Record<string, string> = {};
  for (const [name, example] of entriesOf(EXAMPLES)) {
    clock.now += 1_000;
    let text = JSON.stringify(example);
    for (const [word, id] of Object.entries(EXAMPLE_IDS)) text = text.replaceAll(id, ids[word] ?? id);
    const asked = JSON.parse(text) as object;
    // Waiting is for others: what waits here would wait for ever.
    const answered = await hub.call(ALICE, name, 'timeout_ms' in asked ? { ...asked, timeout_ms: 0 } : asked);
    keepIds(ids, answered);
    done.set(name, { asked, answered });
  }
  return done;
}

/** The first id of each kind is the one that later examples name. */
function keepIds(ids: Record<string, string>, answered: unknown): void {
  const { ask, ...rest } = answered as { ask?: object };
  for (const [word, id] of Object.entries({ ...rest, ...ask }))
    if (Object.hasOwn(EXAMPLE_IDS, word) && typeof id === 'string') ids[word] ??= id;
}
