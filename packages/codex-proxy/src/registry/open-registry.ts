import { readFile, rename } from 'node:fs/promises';

import { writeWhole } from '@parley/mail';
import { decodeJson, hideSecrets } from '@parley/protocol';

import type { Log } from '../logger.ts';
import { isActive, type RegistryFile, RegistrySchema, type SessionRecord } from './session-record.ts';

/** The sessions of this instance, now and before; what is put is on disk once `saved` has settled. */
export interface Registry {
  get(agentId: string): SessionRecord | undefined;
  /** Newest first. */
  list(): SessionRecord[];
  put(record: SessionRecord): void;
  /** Settles when all that was put so far is on disk, or was found impossible to write. */
  saved(): Promise<void>;
  /** Why the last attempt to write failed. */
  failure(): string | undefined;
}

/** Words of others that nothing is found again by. */
const LABELS = ['tag', 'role', 'agent_name', 'branch', 'repo_name'] as const;

/** Ended sessions beyond this many are forgotten, the oldest first. */
const MOST_ENDED = 1_000;

/** Opens the file; sessions that were active are now stale, as the process that drove them is gone. */
export async function openRegistry(path: string, log: Log, now: () => Date): Promise<Registry> {
  const { sessions: before, ...rest } = await readRegistry(path, log, now);
  const records = new Map(before.map((record) => [record.agent_id, record]));
  let failure: string | undefined;
  let wanted = 0;
  let written = 0;
  let writing: Promise<void> | undefined;

  const write = async (): Promise<void> => {
    while (written < wanted) {
      const target = wanted;
      const file: RegistryFile = { ...rest, version: 1, sessions: [...records.values()] };
      try {
        await writeWhole(path, `${JSON.stringify(file, null, 2)}\n`);
        failure = undefined;
      } catch (error) {
        failure = String(error);
        log('error', 'the registry could not be written', { path, error: failure });
      }
      written = target;
    }
    writing = undefined;
  };
  const save = (): void => {
    wanted += 1;
    writing ??= write();
  };
  const registry: Registry = {
    get: (agentId) => records.get(agentId),
    list: () => [...records.values()].toReversed(),
    put(record) {
      records.set(record.agent_id, { ...records.get(record.agent_id), ...record, ...labelsOf(record) });
      forgetOldest(records);
      save();
    },
    saved: async () => {
      await writing;
    },
    failure: () => failure,
  };
  for (const record of before.filter(isActive)) registry.put({ ...record, status: 'stale' });
  await registry.saved();
  return registry;
}

/** What a session is called, without secrets. */
function labelsOf(record: SessionRecord): Partial<SessionRecord> {
  const given = LABELS.map((name) => [name, record[name]] as const);
  return Object.fromEntries(given.flatMap(([name, text]) => (text ? [[name, hideSecrets(text)]] : [])));
}

function forgetOldest(records: Map<string, SessionRecord>): void {
  if (records.size <= MOST_ENDED) return;
  const ended = [...records.values()].filter((record) => !isActive(record));
  for (const { agent_id } of ended.slice(0, Math.max(0, ended.length - MOST_ENDED))) records.delete(agent_id);
}

async function readRegistry(path: string, log: Log, now: () => Date): Promise<RegistryFile> {
  const empty: RegistryFile = { version: 1, sessions: [] };
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return empty;
    throw error;
  }
  try {
    return RegistrySchema.parse(decodeJson(bytes, { depth: 64, items: 200_000 }));
  } catch (error) {
    const aside = `${path}.damaged-${now().toISOString().replaceAll(/[:.]/g, '-')}`;
    await rename(path, aside);
    const reason = (error as Error).message.slice(0, 200);
    log('warn', 'the registry could not be understood and was set aside', { path, aside, reason });
    return empty;
  }
}
