import {
  createThreadFold,
  type Entry,
  link,
  CHAIN_START,
  type PutRecord,
  type ThreadFold,
} from '@parley/core';
import { canonicalJson, seqOfMessageId } from '@parley/protocol';
import {
  createDerivedCheck,
  DERIVED_AND_TEXTS,
  emptyReport,
  type LiveRecord,
  type RecordColumns,
  type RecordName,
  type Reached,
  type RecordReport,
  rowSum,
  sumOfRecord,
} from '@parley/store-rows';

import {
  CURSOR_COLUMNS,
  type CursorRecord,
  readThread,
  sumOfCount,
  sumOfCursor,
  sumOfEntry,
  type ThreadRecord,
} from './rows.ts';
import { inPages, openSnapshot, type PostgresPlace } from './snapshot.ts';
import { type Ask, sql } from './sql.ts';

const MAX_PROBLEMS = 100;

interface EntryRow {
  thread_id: string;
  seq: number;
  workspace_id: string;
  pos: number;
  reply_to: number | null;
  sender: string;
  nth: number;
  hash: string;
  json: string;
  sum: string;
}

/** A thread as its log tells it, as far as its chain holds. */
interface ThreadWalk {
  threadId: string;
  fold: ThreadFold;
  head: string;
  length: number;
  broken: string | undefined;
  nths: Map<string, number>;
}

/** Reads the whole record in PostgreSQL at one moment: every hash, seq, position and sum, and every state folded anew. */
export async function checkPostgres(place: PostgresPlace, reached?: Reached): Promise<RecordReport> {
  const { ask, schemaVersion, close } = await openSnapshot(place);
  try {
    const integrity = await checkSums(ask);
    const { chain, index } = await checkThreads(ask, reached);
    chain.push(...(await checkPositions(ask)));
    const first = { integrity: integrity[0], chain: chain[0], index: index[0] };
    const problems = [...integrity, ...chain, ...index];
    return {
      ...emptyReport(),
      ok: problems.length === 0,
      integrity: integrity.length === 0 ? 'ok' : 'damaged',
      chain: chain.length === 0 ? 'ok' : 'broken',
      index: index.length === 0 ? 'ok' : 'differs',
      first,
      schema_version: schemaVersion,
      counts: await countAll(ask),
      problems: problems.slice(0, MAX_PROBLEMS),
    };
  } finally {
    await close();
  }
}

/** Every row that has a sum is held against it. */
async function checkSums(ask: Ask): Promise<string[]> {
  const problems: string[] = [];
  const cursors = inPages<CursorRecord>(
    ask,
    (last, limit) => sql`SELECT ${CURSOR_COLUMNS} FROM cursors c
      WHERE (c.thread_id, c.agent_id) > (${last?.thread_id ?? ''}, ${last?.agent_id ?? ''})
      ORDER BY thread_id, agent_id LIMIT ${limit}`,
  );
  for await (const page of cursors)
    for (const row of page)
      if (sumOfCursor(row) !== row.sum)
        problems.push(`the cursor of ${row.agent_id} in ${row.thread_id} is not as it was written`);
  const records = inPages<RecordColumns & { sum: string }>(
    ask,
    (last, limit) => sql`SELECT kind, workspace_id, key, mark, owner, json, sum FROM records
      WHERE (kind, workspace_id, key) > (${last?.kind ?? ''}, ${last?.workspace_id ?? ''}, ${last?.key ?? ''})
      ORDER BY kind, workspace_id, key LIMIT ${limit}`,
  );
  for await (const page of records)
    for (const row of page)
      if (sumOfRecord(row) !== row.sum) problems.push(`${row.kind} ${row.key} is not as it was written`);
  type Key = { name: string; fingerprint: string; at: number; result: string; sum: string };
  const keys = inPages<Key>(
    ask,
    (last, limit) =>
      sql`SELECT name, fingerprint, at, result, sum FROM idempotency WHERE name > ${last?.name ?? ''} ORDER BY name LIMIT ${limit}`,
  );
  for await (const page of keys)
    for (const { name, fingerprint, at, result, sum } of page)
      if (rowSum(name, fingerprint, at, result) !== sum)
        problems.push(`the idempotency key ${name} is not as it was written`);
  return problems;
}

async function checkThreads(ask: Ask, reached?: Reached): Promise<{ chain: string[]; index: string[] }> {
  const chain: string[] = [];
  const index: string[] = [];
  const live = new Map<string, LiveRecord>();
  const derived = createDerivedCheck((...name) => live.get(name.join(' ')));
  let walk: ThreadWalk | undefined;
  const end = async (): Promise<void> => {
    if (walk === undefined) return;
    const { threadId, broken, fold } = walk;
    if (broken !== undefined) chain.push(`${threadId}: ${broken}`);
    const records = [...fold.records()];
    await loadRecords(ask, records, live);
    index.push(...derived.compare(records, broken !== undefined));
    index.push(...(await compareThread(ask, walk)));
    live.clear();
  };
  const [all] = await ask<{ entries: number }>(sql`SELECT count(*) AS entries FROM entries`);
  let done = 0;
  const pages = inPages<EntryRow>(
    ask,
    (
      last,
      limit,
    ) => sql`SELECT * FROM entries WHERE (thread_id, seq) > (${last?.thread_id ?? ''}, ${last?.seq ?? -1})
      ORDER BY thread_id, seq LIMIT ${limit}`,
  );
  for await (const page of pages)
    for (const row of page) {
      if (walk?.threadId !== row.thread_id) {
        await end();
        walk = {
          threadId: row.thread_id,
          fold: createThreadFold(),
          head: CHAIN_START,
          length: 0,
          broken: undefined,
          nths: new Map(),
        };
      }
      index.push(...seeEntry(walk, row));
      reached?.(++done, all?.entries ?? 0);
    }
  await end();
  const kept = await ask<RecordName>(sql`
    SELECT kind, workspace_id, key FROM records WHERE kind = ANY(${[...DERIVED_AND_TEXTS]})`);
  index.push(...derived.unexplained(kept));
  return { chain, index };
}

/** One more entry of a thread; what is wrong with how it is filed. */
function seeEntry(walk: ThreadWalk, row: EntryRow): string[] {
  if (walk.broken !== undefined) return [];
  const { seq, json, hash, sender, nth, reply_to } = row;
  if (seq !== walk.length || link(walk.head, json) !== hash) {
    walk.broken = `the chain breaks at seq ${walk.length}${seq === walk.length ? '' : ` (found ${seq})`}`;
    return [];
  }
  // Its hash was compared: it is the entry that was sealed.
  const entry = JSON.parse(json) as Entry;
  walk.fold.see(entry);
  walk.head = hash;
  walk.length++;
  const own = (walk.nths.get(entry.sender_agent_id) ?? 0) + 1;
  walk.nths.set(entry.sender_agent_id, own);
  const problems: string[] = [];
  const at = `${walk.threadId}: seq ${seq}`;
  if (sumOfEntry(row) !== row.sum || sender !== entry.sender_agent_id || nth !== own)
    problems.push(`${at} is not counted as it is among those of its sender`);
  const reply = entry.in_reply_to === undefined ? null : (seqOfMessageId(entry.in_reply_to) ?? null);
  if (reply_to !== reply) problems.push(`${at} is indexed as a reply to another`);
  return problems;
}

/** Holds the row of a thread, and who takes part, against what its log makes of it. */
async function compareThread(ask: Ask, { threadId, broken, fold, head }: ThreadWalk): Promise<string[]> {
  const [row] = await ask<ThreadRecord & { members: string[]; words: number }>(sql`
    SELECT t.*, ARRAY(SELECT agent_id FROM participants p WHERE p.thread_id = t.thread_id ORDER BY agent_id) AS members,
      (SELECT count(*) FROM words w WHERE w.thread_id = t.thread_id) AS words
    FROM threads t WHERE thread_id = ${threadId}`);
  if (row === undefined) return [`${threadId}: its entries are there, but it is not`];
  let found;
  try {
    found = readThread(row);
  } catch {
    return [`${threadId}: its row is not as it was written`];
  }
  if (broken !== undefined) return [];
  const problems: string[] = [];
  if (canonicalJson(fold.state) !== canonicalJson(found.state) || head !== found.head)
    problems.push(`${threadId}: the state folded from the log differs from the live one`);
  if (canonicalJson(row.members) !== canonicalJson([...(fold.state?.participants ?? [])].toSorted()))
    problems.push(`${threadId}: those listed in it are not those who take part`);
  if (row.words !== (fold.state?.last_seq ?? 0))
    problems.push(
      `${threadId}: ${row.words} of its ${fold.state?.last_seq ?? 0} messages are in the index of words`,
    );
  return problems;
}

/** Loads the live ones of some records by their names, with the texts that revisions tell of. */
async function loadRecords(
  ask: Ask,
  records: readonly PutRecord[],
  live: Map<string, LiveRecord>,
): Promise<void> {
  const names = records.flatMap((record): RecordName[] => {
    const { kind, workspace_id, key } = record;
    if (record.kind !== 'revision') return [{ kind, workspace_id, key }];
    const { document_id, sha256 } = record.value;
    return [
      { kind, workspace_id, key },
      { kind: 'content', workspace_id, key: `${document_id} ${sha256}` },
    ];
  });
  for (let i = 0; i < names.length; i += 500) {
    const some = names.slice(i, i + 500);
    const rows =
      await ask<RecordColumns>(sql`SELECT r.* FROM records r JOIN unnest(${some.map(({ kind }) => kind)}::text[],
      ${some.map((one) => one.workspace_id)}::text[], ${some.map(({ key }) => key)}::text[]) AS u (k, w, n)
      ON (r.kind, r.workspace_id, r.key) = (u.k, u.w, u.n)`);
    for (const { kind, workspace_id, key, mark, owner, json } of rows)
      live.set(`${kind} ${workspace_id} ${key}`, { mark, owner, json });
  }
}

/** Every workspace counts from 1 to its head, without a hole. */
async function checkPositions(ask: Ask): Promise<string[]> {
  const rows = await ask<{
    workspace_id: string;
    pos: number | null;
    sum: string | null;
    last: number;
    all: number;
  }>(sql`
    SELECT coalesce(w.workspace_id, e.workspace_id) AS workspace_id, w.pos, w.sum, coalesce(e.last, 0) AS last, coalesce(e."all", 0) AS "all"
    FROM workspaces w FULL JOIN (SELECT workspace_id, max(pos) AS last, count(*) AS "all" FROM entries GROUP BY workspace_id) e
      ON e.workspace_id = w.workspace_id ORDER BY 1`);
  return rows.flatMap(({ workspace_id, pos, sum, last, all }) =>
    pos === last && last === all && sum === sumOfCount(workspace_id, pos)
      ? []
      : [
          `workspace ${workspace_id} has ${all} entries, its last position is ${last}, and it counts ${pos ?? 'none'}`,
        ],
  );
}

async function countAll(ask: Ask): Promise<RecordReport['counts']> {
  const [row] = await ask<RecordReport['counts']>(sql`SELECT
    (SELECT count(*) FROM threads) AS threads,
    (SELECT count(*) FROM entries) AS entries,
    (SELECT count(*) FROM entries WHERE seq > 0) AS messages,
    (SELECT count(*) FROM cursors) AS cursors,
    (SELECT count(*) FROM records WHERE kind = 'session') AS sessions,
    (SELECT count(*) FROM records WHERE kind = 'agent') AS agents,
    (SELECT count(*) FROM records WHERE kind = 'ask') AS asks,
    (SELECT count(*) FROM records WHERE kind = 'document' AND mark <> 'purged') AS documents,
    (SELECT count(*) FROM records WHERE kind = 'artifact') AS artifacts,
    (SELECT count(*) FROM records WHERE kind = 'delivery') AS deliveries,
    (SELECT count(*) FROM records WHERE kind = 'delivery' AND mark = 'dead') AS dead_letters,
    (SELECT count(*) FROM idempotency) AS idempotency_keys`);
  return row ?? emptyReport().counts;
}
