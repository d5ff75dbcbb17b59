/** The side channels of a thread are found by it, also when they are closed. */
export const sql = `
CREATE INDEX threads_by_main ON threads (workspace_id, json_extract(state, '$.side_of'))
  WHERE instr(state, '"side_of"') > 0;
`;
