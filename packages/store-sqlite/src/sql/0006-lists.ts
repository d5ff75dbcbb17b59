/**
 * Threads are listed by their last entry, each by one step; the entries of each sender are numbered, so that what is
 * one's own after a cursor is known without reading it; agents are listed by name, and the newest of their sessions.
 */
export const sql = `
ALTER TABLE heads RENAME TO heads_before;
CREATE TABLE heads (
  thread INTEGER PRIMARY KEY REFERENCES threads (id),
  last_seq INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  hash TEXT NOT NULL,
  sum TEXT NOT NULL,
  -- The workspace whose list it stands in; null for what is no conversation.
  listed_in TEXT
) STRICT;
INSERT INTO heads SELECT h.*, (SELECT t.workspace_id FROM threads t WHERE t.id = h.thread AND t.thread_id NOT GLOB 'th_0000000000*')
  FROM heads_before h;
DROP TABLE heads_before;
CREATE INDEX heads_by_recency ON heads (listed_in, updated_at) WHERE listed_in IS NOT NULL;

-- How many entries of its sender a thread has up to and with this one.
CREATE TABLE entries_by_sender (
  thread INTEGER NOT NULL REFERENCES threads (id),
  sender TEXT NOT NULL,
  seq INTEGER NOT NULL,
  nth INTEGER NOT NULL,
  sum TEXT NOT NULL,
  PRIMARY KEY (thread, sender, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX records_by_agent ON records (workspace_id, owner) WHERE kind IN ('agent', 'session') OR (kind = 'ask' AND mark = 'open');
CREATE INDEX sessions_by_heartbeat ON records (workspace_id, owner, json ->> '$.last_heartbeat_at') WHERE kind = 'session';
`;
