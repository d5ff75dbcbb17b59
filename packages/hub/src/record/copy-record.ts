import { CHAIN_START, link } from '@parley/core';
import { ParleyError } from '@parley/protocol';
import { damagedEntry, type RecordSource, type RecordTarget } from '@parley/store-rows';

/** Where a copy is: at the log, at what is beside it, at the look at the whole, or at that of where it came from. */
type CopyStep = 'log' | 'rest' | 'check' | 'source';

/** How far it has come there, and how far it goes; 0 where that is not known. */
export interface CopyProgress {
  step: CopyStep;
  done: number;
  all: number;
}

/** What was copied. */
export interface CopyCounts {
  entries: number;
  cursors: number;
  records: number;
  keys: number;
}

/**
 * Copies a whole record: the log with its hashes as they are, then all that is beside it. What was copied before a crash
 * stays; a target that holds anything else is refused. Every chain is held against its hashes on the way.
 */
export async function copyRecord(
  source: RecordSource,
  target: RecordTarget,
  from: string,
  tell: (progress: CopyProgress) => void,
): Promise<CopyCounts> {
  const heads = await source.heads();
  const all = heads.reduce((sum, { pos }) => sum + pos, 0);
  const past = await startingPoints(source, target, from);
  let done = [...past.values()].reduce((sum, pos) => sum + pos, 0);
  /** The last hash of each thread that was seen. */
  const links = new Map<string, string>();
  for await (const entries of source.entries(past)) {
    for (const { thread_id, seq, hash, json } of entries) {
      const before = seq === 0 ? CHAIN_START : links.get(thread_id);
      // Where a copy goes on in the midst of a thread, the end looks at the whole chain once more.
      if (before !== undefined && link(before, json) !== hash) throw damagedEntry(thread_id, seq);
      links.set(thread_id, hash);
    }
    const ids = [...new Set(entries.map(({ thread_id }) => thread_id))];
    await target.addEntries(entries, await source.threads(ids));
    done += entries.length;
    tell({ step: 'log', done, all });
  }
  const counts: CopyCounts = { entries: done, cursors: 0, records: 0, keys: 0 };
  await target.clearRest();
  let beside = 0;
  const told = (count: number): void => tell({ step: 'rest', done: (beside += count), all: 0 });
  for await (const page of source.cursors()) {
    await target.addCursors(page);
    counts.cursors += page.length;
    told(page.length);
  }
  for await (const page of source.records()) {
    await target.addRecords(page);
    counts.records += page.length;
    told(page.length);
  }
  for await (const page of source.keys()) {
    await target.addKeys(page);
    counts.keys += page.length;
  }
  await target.settle();
  return counts;
}

/** How far each workspace is there already, if what is there is the beginning of the very same. */
async function startingPoints(
  source: RecordSource,
  target: RecordTarget,
  from: string,
): Promise<Map<string, number>> {
  const note = await target.note();
  if (note === undefined && !(await target.isBlank()))
    throw new ParleyError('CONFLICT', 'the target holds a record already; a move goes into an empty one');
  if (note !== undefined && note !== from)
    throw new ParleyError('CONFLICT', `the target is being filled from ${note}; finish that, or empty it`);
  if (note === undefined) await target.begin(from);
  const past = new Map<string, number>();
  for (const { workspace_id, pos, hash } of await target.heads()) {
    if ((await source.hashAt(workspace_id, pos)) !== hash)
      throw new ParleyError(
        'CONFLICT',
        `the target has something else at position ${pos} of workspace ${workspace_id}; empty it`,
      );
    past.set(workspace_id, pos);
  }
  return past;
}
