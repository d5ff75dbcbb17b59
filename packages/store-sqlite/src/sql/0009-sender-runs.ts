/**
 * What one sender writes side by side in a thread is counted together: the newest such run stands in the thread's head,
 * which every commit writes anyway, and gets a row of its own when another begins to speak. All of it is made anew from
 * the log.
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
  listed_in TEXT,
  -- Who wrote the newest entry and all from run_seq on, the first of which is that sender's run_nth.
  speaker TEXT,
  run_seq INTEGER,
  run_nth INTEGER
) STRICT;
INSERT INTO heads SELECT h.*, NULL, NULL, NULL FROM heads_before h;
DROP TABLE heads_before;
CREATE INDEX heads_by_recency ON heads (listed_in, updated_at) WHERE listed_in IS NOT NULL;

DROP TABLE entries_by_sender;
-- Entries of one sender side by side, up to \`last\` and with it, after which others wrote; the first is the nth of its sender.
CREATE TABLE entries_by_sender (
  thread INTEGER NOT NULL REFERENCES threads (id),
  sender TEXT NOT NULL,
  seq INTEGER NOT NULL,
  last INTEGER NOT NULL,
  nth INTEGER NOT NULL,
  sum TEXT NOT NULL,
  PRIMARY KEY (thread, sender, seq)
) STRICT, WITHOUT ROWID;
`;
