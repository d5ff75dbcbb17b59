import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { writeWhole } from '@parley/mail';
import { ParleyError, errorText } from '@parley/protocol';
import { lockFile } from '@parley/sqlite';

import { isActive, RegistrySchema, type SessionRecord } from './session-record.ts';
import { summaryPath } from './summary-path.ts';

/** The registry of one proxy instance, seen from outside. */
export interface InstanceRegistry {
  identity: string;
  /** True while a proxy runs under this identity. */
  running: boolean;
  /** Newest first; what no running proxy drives is stale. */
  sessions: SessionRecord[];
  /** Why the file could not be read. */
  problem: string | undefined;
}

/** Reads every registry of a team, without disturbing the proxies that run. */
export async function readTeam(folder: string): Promise<InstanceRegistry[]> {
  const found = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const instances = found
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => readInstance(folder, name));
  return (await Promise.all(instances)).filter((one) => one !== undefined);
}

async function readInstance(folder: string, identity: string): Promise<InstanceRegistry | undefined> {
  const text = await readFile(registryPath(folder, identity), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  let running = false;
  try {
    running = isHeld(folder, identity);
    const { sessions } = RegistrySchema.parse(JSON.parse(text));
    const seen = sessions.map((one) =>
      isActive(one) && !running ? { ...one, status: 'stale' as const } : one,
    );
    return { identity, running, sessions: seen.toReversed(), problem: undefined };
  } catch (error) {
    return { identity, running, sessions: [], problem: errorText(error).slice(0, 200) };
  }
}

/** What was forgotten, and the identities whose proxy runs and keeps its own registry. */
export interface Pruned {
  removed: string[];
  kept_by_running: string[];
}

/** Forgets the ended sessions that `chosen` picks, and their summaries; a running proxy's are its own affair. */
export async function pruneTeam(folder: string, chosen: (record: SessionRecord) => boolean): Promise<Pruned> {
  const pruned: Pruned = { removed: [], kept_by_running: [] };
  for (const { identity, sessions, problem } of await readTeam(folder)) {
    const ended = sessions.filter((one) => !isActive(one) && chosen(one));
    if (problem !== undefined || ended.length === 0) continue;
    const lock = tryLock(folder, identity);
    if (lock === undefined) {
      pruned.kept_by_running.push(identity);
      continue;
    }
    try {
      await forget(folder, identity, new Set(ended.map(({ agent_id }) => agent_id)));
      for (const record of ended) {
        const summary = summaryPath(folder, record);
        if (summary !== undefined) await rm(join(summary, '..'), { recursive: true, force: true });
        pruned.removed.push(record.agent_id);
      }
    } finally {
      lock.release();
    }
  }
  return pruned;
}

async function forget(folder: string, identity: string, ids: ReadonlySet<string>): Promise<void> {
  const path = registryPath(folder, identity);
  const file = RegistrySchema.parse(JSON.parse(await readFile(path, 'utf8')));
  const sessions = file.sessions.filter(({ agent_id }) => !ids.has(agent_id));
  await writeWhole(path, `${JSON.stringify({ ...file, sessions }, null, 2)}\n`);
}

function registryPath(folder: string, identity: string): string {
  return join(folder, identity, 'registry.json');
}

function isHeld(folder: string, identity: string): boolean {
  const lock = tryLock(folder, identity);
  lock?.release();
  return lock === undefined;
}

function tryLock(folder: string, identity: string): ReturnType<typeof lockFile> | undefined {
  try {
    return lockFile(join(folder, `${identity}.lock`), 0);
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'CONFLICT') return undefined;
    throw error;
  }
}
