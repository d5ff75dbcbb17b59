/**
 * What one sender wrote side by side in a thread is one row, however much it is: a post costs no row of its own here.
 * The rows are made anew from the log.
 */
export const sql = `
DROP TABLE entries_by_sender;

-- A run of entries of one sender, up to \`last\` and with it; the first of them is its nth in the thread.
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
