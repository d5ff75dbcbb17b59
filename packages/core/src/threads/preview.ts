import { type Caller, LIMITS, ParleyError, plainWords } from '@parley/protocol';

import type { RecordPorts } from '../ports.ts';
import { admitReader, checkThreadScope } from './access.ts';

/** How far back a last word is looked for: what the hub itself put on record since is passed over. */
const LOOKED_AT = 8;

const SHOWN_CHARS = 200;

/** The beginning of the last thing that somebody said, without marks; undefined where nobody has lately, or the caller may not read it. */
export async function preview(deps: RecordPorts, caller: Caller, thread_id: string) {
  const { workspace_id } = caller;
  checkThreadScope(thread_id, caller);
  const query = { workspace_id, thread_id, limit: LOOKED_AT, max_bytes: LIMITS.page_bytes };
  const { located, entries } = await deps.store.tail(query);
  try {
    admitReader(located, caller);
  } catch (error) {
    if (error instanceof ParleyError) return undefined;
    throw error;
  }
  const said = entries.findLast(
    ({ kind, type }) => kind !== 'system' && type !== 'control' && type !== 'presence',
  );
  if (said === undefined) return undefined;
  return {
    thread_id,
    seq: said.seq,
    agent_id: said.sender_agent_id,
    text: plainWords(said.body)
      .slice(0, SHOWN_CHARS)
      .replace(/[\uD800-\uDBFF]$/, ''),
    at: said.created_at,
  };
}
