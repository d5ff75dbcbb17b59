import { resolve } from 'node:path';

import { ParleyError } from '@parley/protocol';
import type { RecordTarget } from '@parley/store-rows';
import type { FileLock } from '@parley/store-sqlite';

import { type CopyCounts, type CopyProgress, copyRecord } from './copy-record.ts';
import { nameOf, occupy, openTarget, type Place } from './move-record.ts';
import { readExport } from './read-export.ts';
import { recordPlace } from './record-place.ts';

/** What an import has brought, and what could not come along. */
export interface ImportReport {
  to: string;
  counts: Omit<CopyCounts, 'keys'> & { threads: number; artifacts: number };
  left: Record<string, number>;
}

/** Makes a record from an export in a place that is empty, and reads it whole at the end; after a crash it goes on. */
export async function importRecord(
  file: string,
  target: Place,
  tell: (progress: CopyProgress) => void,
): Promise<ImportReport> {
  const path = resolve(file);
  const source = await readExport(path);
  const locks: FileLock[] = [];
  let writing: RecordTarget | undefined;
  try {
    await occupy(target, locks);
    writing = await openTarget(target);
    const { entries, cursors, records } = await copyRecord(source, writing, path, tell);
    const place = await recordPlace(target);
    const report = await place.check((done, all) => tell({ step: 'check', done, all }));
    if (!report.ok || report.counts.entries !== source.entries_in_all)
      throw new ParleyError(
        'INTERNAL',
        `what was restored is not sound: ${report.problems[0] ?? 'entries are missing'}`,
      );
    const artifacts = (await place.artifacts()).length;
    await writing.done();
    const counts = { entries, cursors, records, threads: report.counts.threads, artifacts };
    return { to: nameOf(target), counts, left: source.left };
  } finally {
    await writing?.close();
    for (const lock of locks) lock.release();
  }
}
