import { readEntry } from '@parley/core';

import { createThreadReader, type FoldedThread } from './fold-thread.ts';
import { createProgress, type Hear } from './news.ts';
import { createNumbering } from './sender-counts.ts';
import { sumOfHead, sumOfThread } from '@parley/store-rows';
import { type DatabaseSync, oneRow } from './sqlite.ts';
import { listedIn, runColumns } from './thread-record.ts';

/** How many threads share a transaction. */
const AT_ONCE = 200;

/** Makes the rows of some threads anew from the log; one whose log is damaged is told of, and not served. */
export function rebuildThreads(db: DatabaseSync, doubts: ReadonlyMap<number, string>, hear: Hear): void {
  const read = createThreadReader(db);
  const write = createThreadWriter(db);
  const progress = createProgress(hear, 'making threads anew from the log');
  const threads = [...doubts];
  let rebuilt = 0;
  for (let i = 0; i < threads.length; i += AT_ONCE) {
    db.exec('BEGIN IMMEDIATE');
    for (const [id, problem] of threads.slice(i, i + AT_ONCE)) {
      const thread = read(id);
      if (thread.broken === undefined) rebuilt++;
      else hear({ kind: 'fault', text: `${problem}; it cannot be made anew: ${thread.broken}` });
      write(id, thread);
    }
    db.exec('COMMIT');
    progress(i, threads.length);
  }
  const [first] = doubts.values();
  if (rebuilt > 0)
    hear({
      kind: 'rebuilt',
      part: 'threads',
      text: `${rebuilt} ${rebuilt === 1 ? 'thread was' : 'threads were'} made anew from the log (${first ?? ''})`,
    });
}

function createThreadWriter(db: DatabaseSync): (id: number, thread: FoldedThread) => void {
  const getThread = db.prepare('SELECT 1 FROM threads WHERE id = ?');
  const putThread = db.prepare(
    'INSERT OR REPLACE INTO threads (id, thread_id, workspace_id, status, state, sum) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const putHead = db.prepare(
    'INSERT OR REPLACE INTO heads (thread, last_seq, updated_at, hash, sum, listed_in, speaker, run_seq, run_nth) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const renumber = createNumbering(db);
  const dropHead = db.prepare('DELETE FROM heads WHERE thread = ?');
  const dropMembers = db.prepare('DELETE FROM participants WHERE thread = ?');
  const addMember = db.prepare('INSERT INTO participants (workspace_id, agent_id, thread) VALUES (?, ?, ?)');
  const lastEntry = db.prepare<{ json: string }>(
    'SELECT json FROM entries WHERE thread = ? ORDER BY seq DESC LIMIT 1',
  );

  /** A name without a state: whoever asks for the thread is told that it is damaged, and not that there is none. */
  function putName(id: number, name: string): void {
    if (getThread.get(id) === undefined) putThread.run(id, name, '', '', '', '');
  }

  return (id, { fold, head, length, broken }) => {
    const { state } = fold;
    if (length === 0 && broken === undefined) {
      dropHead.run(id);
      dropMembers.run(id);
      renumber(id);
      return;
    }
    if (state === undefined || broken !== undefined) {
      const name = state?.thread_id ?? nameIn(oneRow(lastEntry.get(id)).json);
      if (name !== undefined) putName(id, name);
      return;
    }
    const { thread_id, workspace_id, status, last_seq, updated_at } = state;
    const text = JSON.stringify(state);
    putThread.run(id, thread_id, workspace_id, status, text, sumOfThread({ ...state, state: text }));
    const { speaker, run_seq, run_nth } = runColumns(renumber(id));
    const sum = sumOfHead({ thread: id, last_seq, updated_at, hash: head, speaker, run_seq, run_nth });
    putHead.run(id, last_seq, updated_at, head, sum, listedIn(state), speaker, run_seq, run_nth);
    dropMembers.run(id);
    for (const agent of state.participants) addMember.run(workspace_id, agent, id);
  };
}

function nameIn(json: string): string | undefined {
  try {
    return readEntry(json).thread_id;
  } catch {
    return undefined;
  }
}
