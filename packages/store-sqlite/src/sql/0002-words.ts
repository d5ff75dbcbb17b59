/**
 * The index of words is made anew, in blocks of each workspace, so that a search need not look through all of it; and
 * what is kept beside the log is counted, so that a start sees when some of it has gone.
 */
export const sql = `
DROP TABLE search;
DELETE FROM followers WHERE name = 'search';
CREATE VIRTUAL TABLE search USING fts5 (body, content='', tokenize='unicode61 remove_diacritics 2');

CREATE TABLE searched_workspaces (
  id INTEGER PRIMARY KEY,
  workspace_id TEXT NOT NULL UNIQUE
) STRICT;

-- A run of messages of one workspace, from the position of its first one on.
CREATE TABLE searched_blocks (
  id INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  first INTEGER NOT NULL,
  messages INTEGER NOT NULL
) STRICT;
CREATE INDEX blocks_by_workspace ON searched_blocks (workspace, first);

CREATE TABLE tallies (
  name TEXT PRIMARY KEY,
  rows INTEGER NOT NULL,
  sums INTEGER NOT NULL,
  sum TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;
