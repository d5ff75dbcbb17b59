import { CHAIN_START, type Entry, link, readEntry } from '@parley/core';

import { damagedEntry } from '@parley/store-rows';

/** An entry with the hash before it, which is all it takes to check it alone. */
export interface LinkedRow {
  thread_id: string;
  seq: number;
  before: string | null;
  hash: string;
  json: string;
}

/** What is selected for a linked row, of an entry `e` and its thread `t`. */
export const LINKED =
  't.thread_id, e.seq, e.hash, e.json, (SELECT b.hash FROM entries b WHERE b.thread = e.thread AND b.seq = e.seq - 1) AS before';

/** The threads of one participant, and the side channels of those. */
export const OPEN_TO = `(:participant IS NULL
  OR EXISTS (SELECT 1 FROM participants p WHERE p.workspace_id = :workspace AND p.agent_id = :participant AND p.thread = t.id)
  OR (instr(t.state, '"side_of"') > 0 AND EXISTS (SELECT 1 FROM threads m
    JOIN participants p ON p.workspace_id = :workspace AND p.agent_id = :participant AND p.thread = m.id
    WHERE m.thread_id = json_extract(t.state, '$.side_of'))))`;

/** The entry of a row, if it is what its hash chain says. */
export function checkedEntry({ thread_id, seq, before, hash, json }: LinkedRow): Entry {
  if (link(before ?? CHAIN_START, json) !== hash) throw damagedEntry(thread_id, seq);
  return readEntry(json);
}
