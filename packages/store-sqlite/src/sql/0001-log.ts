/** The log, the states folded from it, and what is kept beside it; `sum` covers the rest of its row. */
export const sql = `
CREATE TABLE threads (
  id INTEGER PRIMARY KEY,
  thread_id TEXT NOT NULL UNIQUE,
  workspace_id TEXT NOT NULL,
  status TEXT NOT NULL,
  state TEXT NOT NULL,
  sum TEXT NOT NULL
) STRICT;
CREATE INDEX threads_by_workspace ON threads (workspace_id);

-- What every entry moves stands apart from what few entries change, so that a post rewrites little.
CREATE TABLE heads (
  thread INTEGER PRIMARY KEY REFERENCES threads (id),
  last_seq INTEGER NOT NULL,
  updated_at TEXT NOT NULL,
  hash TEXT NOT NULL,
  sum TEXT NOT NULL
) STRICT;

CREATE TABLE participants (
  workspace_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  thread INTEGER NOT NULL REFERENCES threads (id),
  PRIMARY KEY (workspace_id, agent_id, thread)
) STRICT, WITHOUT ROWID;

CREATE TABLE entries (
  pos INTEGER PRIMARY KEY,
  thread INTEGER NOT NULL REFERENCES threads (id),
  seq INTEGER NOT NULL,
  reply_to INTEGER,
  hash TEXT NOT NULL,
  json TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX entries_by_thread ON entries (thread, seq);
CREATE INDEX entries_by_reply ON entries (thread, reply_to) WHERE reply_to IS NOT NULL;
CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER entries_never_go BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TABLE cursors (
  thread INTEGER NOT NULL REFERENCES threads (id),
  agent_id TEXT NOT NULL,
  last_read_seq INTEGER NOT NULL,
  last_acked_message_id TEXT,
  updated_at TEXT NOT NULL,
  sum TEXT NOT NULL,
  PRIMARY KEY (thread, agent_id)
) STRICT, WITHOUT ROWID;

-- Small things with one current value each, by kind: sessions, agents, asks, offers.
CREATE TABLE records (
  kind TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  key TEXT NOT NULL,
  mark TEXT NOT NULL,
  owner TEXT NOT NULL,
  json TEXT NOT NULL,
  sum TEXT NOT NULL,
  PRIMARY KEY (kind, workspace_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_by_mark ON records (kind, mark, workspace_id, key);
CREATE INDEX asks_by_owner ON records (workspace_id, owner, key) WHERE kind = 'ask';
CREATE INDEX asks_by_owner_and_mark ON records (workspace_id, owner, mark, key) WHERE kind = 'ask';

CREATE TABLE idempotency (
  name TEXT PRIMARY KEY,
  fingerprint TEXT NOT NULL,
  at INTEGER NOT NULL,
  result TEXT NOT NULL,
  sum TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE followers (
  name TEXT PRIMARY KEY,
  pos INTEGER NOT NULL,
  sum TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE search USING fts5 (body, content='', tokenize='unicode61 remove_diacritics 2');
`;
