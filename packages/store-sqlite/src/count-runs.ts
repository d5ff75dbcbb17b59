import { fieldsOf } from '@parley/protocol';
import { OWN_WORKSPACE, placeKey } from '@parley/core';

import { recordTally, tallyOfRecords } from './doubtful-rows.ts';
import { createProgress, type Hear } from './news.ts';
import { number } from './number.ts';
import { sumOfRecord } from '@parley/store-rows';
import { type Run, Runs, sumOfRun } from './runs.ts';
import { type DatabaseSync, rowsOf } from './sqlite.ts';
import { Tallies, tallyOf } from './tallies.ts';

/** The runs as the log and its threads make them. */
function* runsOfLog(db: DatabaseSync, onRow: (pos: number) => void = () => {}): Generator<Run> {
  const threads = db
    .prepare<{ id: number; workspace_id: string }>('SELECT id, workspace_id FROM threads')
    .all();
  const workspaces = new Map(threads.map(({ id, workspace_id }) => [id, workspace_id]));
  const counts = new Map<string, number>();
  let current: string | undefined;
  const rows = rowsOf(
    db.prepare<{ pos: number; thread: number }>('SELECT pos, thread FROM entries ORDER BY pos'),
  );
  for (const { pos, thread } of rows) {
    // What is of a thread that cannot be made anew is counted apart.
    const workspace_id = workspaces.get(thread) ?? '';
    const place = (counts.get(workspace_id) ?? 0) + 1;
    counts.set(workspace_id, place);
    if (workspace_id !== current) yield { pos, workspace_id, place };
    current = workspace_id;
    onRow(pos);
  }
}

/** What is wrong with the positions of the workspaces: the runs are counted, and with `all` held against the log. */
export function checkRuns(db: DatabaseSync, all: boolean): string | undefined {
  const written = new Tallies(db).read('runs');
  const rows = number(db, 'SELECT count(*) FROM runs');
  const first = number(db, 'SELECT coalesce(min(pos), 0) FROM entries');
  if (written === undefined && first > 0) return 'the positions of the workspaces were never counted';
  if (rows !== (written?.rows ?? 0)) return `the log has ${rows} runs, ${written?.rows ?? 0} were written`;
  if (number(db, 'SELECT coalesce(min(pos), 0) FROM runs') !== first)
    return 'the positions of the workspaces do not begin with the log';
  if (!all) return undefined;
  const kept = db.prepare<Run & { sum: string }>(
    'SELECT pos, workspace_id, place, sum FROM runs WHERE pos = ?',
  );
  let runs = 0;
  for (const run of runsOfLog(db)) {
    const row = kept.get(run.pos);
    if (row === undefined || row.sum !== sumOfRun(run) || sumOfRun(row) !== row.sum)
      return `workspace ${run.workspace_id}: its positions are not what the log makes of them from ${run.place} on`;
    runs++;
  }
  return runs === rows ? undefined : `the log has ${rows} runs, it makes ${runs}`;
}

/** Counts the entries of each workspace anew, in one transaction, with the places that were kept by the one count. */
export function countRuns(db: DatabaseSync, problem: string, hear: Hear): void {
  const progress = createProgress(hear, 'counting the entries of each workspace');
  const all = number(db, 'SELECT max(pos) FROM entries');
  const tallies = new Tallies(db);
  const isFirst = tallies.read('runs') === undefined;
  db.exec('BEGIN IMMEDIATE; DELETE FROM runs');
  const add = db.prepare('INSERT INTO runs (pos, workspace_id, place, sum) VALUES (?, ?, ?, ?)');
  const sums: string[] = [];
  for (const run of runsOfLog(db, (pos) => progress(pos, all))) {
    const sum = sumOfRun(run);
    add.run(run.pos, run.workspace_id, run.place, sum);
    sums.push(sum);
  }
  tallies.set('runs', tallyOf(sums));
  splitPlaces(db);
  tallies.set(recordTally('follower'), tallyOfRecords(db, 'follower'));
  tallies.flush();
  db.exec('COMMIT');
  if (!isFirst) hear({ kind: 'rebuilt', part: 'records', text: `positions were counted anew (${problem})` });
}

/** Who had one place in all of the log gets one in each workspace. */
function splitPlaces(db: DatabaseSync): void {
  const runs = new Runs(db);
  const workspaces: string[] = [];
  for (let name = runs.next(''); name !== undefined; name = runs.next(name)) workspaces.push(name);
  const old = db
    .prepare<{ key: string; json: string }>(
      "SELECT key, json FROM records WHERE kind = 'follower' AND instr(key, ' ') = 0",
    )
    .all();
  const put = db.prepare(
    "INSERT OR REPLACE INTO records (kind, workspace_id, key, mark, owner, json, sum) VALUES ('follower', ?, ?, '', ?, ?, ?)",
  );
  const drop = db.prepare("DELETE FROM records WHERE kind = 'follower' AND key = ?");
  for (const { key: name, json } of old) {
    const pos = Number(fieldsOf(JSON.parse(json))['pos']);
    const places = workspaces.map((workspace_id) => ({ workspace_id, pos: runs.upTo(workspace_id, pos) }));
    for (const place of [...places, { workspace_id: OWN_WORKSPACE, pos: 0 }]) {
      const value = JSON.stringify({ name, ...place });
      const row = { kind: 'follower', workspace_id: OWN_WORKSPACE, key: placeKey(name, place.workspace_id) };
      put.run(
        row.workspace_id,
        row.key,
        name,
        value,
        sumOfRecord({ ...row, mark: '', owner: name, json: value }),
      );
    }
    drop.run(name);
  }
}
