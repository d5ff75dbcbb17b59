import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { type ArtifactRecord, STATE_FILES } from '@parley/core';
import { hideSecrets, ParleyError } from '@parley/protocol';
import type { RecordTarget } from '@parley/store-rows';
import { type FileLock, lockFolder, openFolderTarget } from '@parley/store-sqlite';

import { checkBlobs, copyBlobs } from '../artifacts/check-blobs.ts';
import type { Config } from '../config/schema.ts';
import { prepareFolder } from '../data-folder.ts';
import { type StateFilesPlace, withStateFiles } from '../state-files/with-state-files.ts';
import { type CopyCounts, type CopyProgress, copyRecord } from './copy-record.ts';
import { recordPlace } from './record-place.ts';

/** What a move has brought, the same on both sides. */
export interface MoveReport {
  from: string;
  to: string;
  counts: CopyCounts & { threads: number; artifacts: number };
}

interface Move {
  from: string;
  to: string;
  config: Config;
  tell: (progress: CopyProgress) => void;
}

/** Moves a whole record, with the files kept beside it and the bytes of artifacts, and compares both at the end. */
export async function moveRecord({ from, to, config, tell }: Move): Promise<MoveReport> {
  const [source, target] = [placeOf(from, config), placeOf(to, config)];
  if (nameOf(source) === nameOf(target))
    throw new ParleyError('VALIDATION_ERROR', '--from and --to are the same');
  if (source.store === '' && !existsSync(source.data))
    throw new ParleyError('NOT_FOUND', `there is no record in ${source.data}`);
  const locks: FileLock[] = [];
  let writing: RecordTarget | undefined;
  try {
    for (const place of [source, target]) await occupy(place, locks);
    writing = await openTarget(target);
    const counts = await copyAll(source, writing, tell);
    const artifacts = await (await recordPlace(target)).artifacts();
    await moveStateFiles(source, target);
    if (config.artifacts.bucket === '') moveBlobs(source.data, target.data, artifacts);
    const threads = await compare(source, target, tell);
    await writing.done();
    const moved = { ...counts, threads, artifacts: artifacts.length };
    return { from: nameOf(source), to: nameOf(target), counts: moved };
  } finally {
    await writing?.close();
    for (const lock of locks) lock.release();
  }
}

/** Where a record is, with the folder of the bytes of its artifacts. */
export type Place = Required<StateFilesPlace>;

/** A database has the bytes of its artifacts in the folder of the node. */
function placeOf(text: string, { data }: Config): Place {
  if (/^postgres(ql)?:\/\//.test(text)) return { store: text, data: resolve(data) };
  return { store: '', data: resolve(text) };
}

/** How a place is called where others read it: without a password. */
export function nameOf({ store, data }: Place): string {
  return store === '' ? data : hideSecrets(store);
}

/** Nobody else may write to either side meanwhile. */
export async function occupy({ store, data }: Place, locks: FileLock[]): Promise<void> {
  if (store === '') {
    prepareFolder(data);
    locks.push(lockFolder(data));
    return;
  }
  const { countHubs } = await import('@parley/store-postgres');
  const hubs = await countHubs({ url: store });
  if (hubs > 0)
    throw new ParleyError('CONFLICT', `a hub is connected to ${hideSecrets(store)}; stop all of them first`);
}

async function copyAll(source: Place, writing: RecordTarget, tell: Move['tell']): Promise<CopyCounts> {
  const reading = await (await recordPlace(source)).source();
  try {
    return await copyRecord(reading, writing, nameOf(source), tell);
  } finally {
    await reading.close();
  }
}

/** What fills a place that is still empty. */
export async function openTarget({ store, data }: Place): Promise<RecordTarget> {
  if (store === '') return openFolderTarget(data);
  const { openPostgresTarget } = await import('@parley/store-postgres');
  return openPostgresTarget({ url: store });
}

/** Keys, revocations and all else that is kept beside the record. */
function moveStateFiles(source: Place, target: Place): Promise<void> {
  return withStateFiles(source, (old) =>
    withStateFiles(target, async (fresh) => {
      for (const name of STATE_FILES) await fresh.change(name, () => old.look(name).text);
    }),
  );
}

function moveBlobs(from: string, to: string, artifacts: readonly ArtifactRecord[]): void {
  if (from === to || artifacts.length === 0) return;
  prepareFolder(to);
  const [wrong] = [...copyBlobs(from, to, artifacts), ...checkBlobs(to, artifacts).wrong];
  if (wrong !== undefined) throw new ParleyError('INTERNAL', `an artifact cannot be moved: ${wrong}`);
}

/** Reads both whole: each must be sound, and both must hold the same; says how many threads that are. */
async function compare(source: Place, target: Place, tell: Move['tell']): Promise<number> {
  const [old, fresh] = [await recordPlace(source), await recordPlace(target)];
  const report = await fresh.check((done, all) => tell({ step: 'check', done, all }));
  if (!report.ok)
    throw new ParleyError('INTERNAL', `what was moved is not sound: ${report.problems[0] ?? ''}`);
  const before = await old.check((done, all) => tell({ step: 'source', done, all }));
  const differing = Object.entries(before.counts).find(
    // The names are those of the counts.
    ([name, count]) => report.counts[name as keyof typeof report.counts] !== count,
  );
  if (differing !== undefined)
    throw new ParleyError(
      'INTERNAL',
      `there were ${differing[1]} ${differing[0]}, and not all of them were moved`,
    );
  const [hashes, others] = [await headsOf(source), await headsOf(target)];
  for (const [workspace, head] of hashes)
    if (others.get(workspace) !== head)
      throw new ParleyError('INTERNAL', `the log of workspace ${workspace} ends in another hash`);
  return report.counts.threads;
}

/** Where each workspace ends, and with which hash. */
async function headsOf(place: Place): Promise<Map<string, string>> {
  const source = await (await recordPlace(place)).source();
  try {
    const heads = new Map<string, string>();
    for (const { workspace_id, pos } of await source.heads())
      heads.set(workspace_id, `${pos} ${(await source.hashAt(workspace_id, pos)) ?? ''}`);
    return heads;
  } finally {
    await source.close();
  }
}
