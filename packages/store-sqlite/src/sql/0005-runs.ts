/**
 * Each workspace counts its entries from 1 on. The rows of the log stay in the one order in which they were written;
 * what stands side by side there and is of one workspace is a run, which goes on until the next one begins. How far
 * the one count over all workspaces had come is kept, for those who hold a cursor of it.
 */
export const sql = `
CREATE TABLE runs (
  pos INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  sum TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX runs_by_workspace ON runs (workspace_id, place);
INSERT INTO followers (name, pos, sum)
  SELECT 'one count', max(pos), row_sum('one count', max(pos)) FROM entries HAVING count(*) > 0;
`;
