/** What is selected for a linked row, of an entry `e` and its thread `t`. */
export const LINKED =
  't.thread_id, e.seq, e.hash, e.json, (SELECT b.hash FROM entries b WHERE b.thread = e.thread AND b.seq = e.seq - 1) AS before';

/** The threads of one participant, and the side channels of those. */
export const OPEN_TO = `(:participant IS NULL
  OR EXISTS (SELECT 1 FROM participants p WHERE p.workspace_id = :workspace AND p.agent_id = :participant AND p.thread = t.id)
  OR (instr(t.state, '"side_of"') > 0 AND EXISTS (SELECT 1 FROM threads m
    JOIN participants p ON p.workspace_id = :workspace AND p.agent_id = :participant AND p.thread = m.id
    WHERE m.thread_id = json_extract(t.state, '$.side_of'))))`;
