import { readFile, rename } from 'node:fs/promises';

import { writeWhole } from '@parley/mail';
import { decodeJson, hideSecrets, errorText, errorCode } from '@parley/protocol';

import type { Log } from '../logger.ts';
import { isActive, type RegistryFile, RegistrySchema, type SessionRecord } from './session-record.ts';

/** The sessions of this instance, now and before; what is put is on disk once `saved` has settled. */
export interface Registry {
  get(agentId: string): SessionRecord | undefined;
  /** Newest first. */
  list(): SessionRecord[];
  /** What a restart would set right by itself may be written soon, together with what follows. */
  put(record: SessionRecord, when?: 'now' | 'soon'): void;
  /** Settles when all that was put so far is on disk, or was found impossible to write. */
  saved(): Promise<void>;
  /** Why the last attempt to write failed. */
  failure(): string | undefined;
}

/** Words of others that nothing is found again by. */
const LABELS = ['tag', 'role', 'agent_name', 'branch', 'repo_name'] as const;

/** Turns begin and end far more often than sessions. */
const SOON_MS = 50;

/** Ended sessions beyond this many are forgotten, the oldest first. */
const MOST_ENDED = 1_000;

/** Opens the file; sessions that were active are now stale, as the process that drove them is gone. */
export async function openRegistry(path: string, log: Log, now: () => Date): Promise<Registry> {
  const { sessions: found, ...rest } = await readRegistry(path, log, now);
  const records = new Map(found.map((record) => [record.agent_id, { ...record, ...labelsOf(record) }]));
  let failure: string | undefined;
  let wanted = 0;
  /** What is wanted at once, of all that is wanted. */
  let due = 0;
  let written = 0;
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const write = async (): Promise<void> => {
    while (written < due) {
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
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    due = wanted;
    writing ??= write();
  };
  const registry: Registry = {
    get: (agentId) => records.get(agentId),
    list: () => [...records.values()].toReversed(),
    put(record, when = 'now') {
      const before = records.get(record.agent_id);
      records.set(record.agent_id, { ...before, ...record, ...labelsOf(record, before) });
      forgetOldest(records);
      wanted += 1;
      // A crash that found an ended session on disk would take its old summary for the new end.
      const isTakenUp = before !== undefined && !isActive(before) && isActive(record);
      if (when === 'now' || isTakenUp) flush();
      else timer ??= setTimeout(flush, SOON_MS);
    },
    async saved() {
      if (written < wanted) flush();
      await writing;
    },
    failure: () => failure,
  };
  for (const record of found.filter(isActive)) {
    const { agent_id, identity } = record;
    log('warn', 'a session is stale, as the proxy that drove it is gone', { agent_id, identity });
    registry.put({ ...record, status: 'stale' });
  }
  await registry.saved();
  return registry;
}

/** What a session is called, without secrets; what stood there before has none. */
function labelsOf(record: SessionRecord, before?: SessionRecord): Partial<SessionRecord> {
  const changed = LABELS.flatMap((name) => {
    const text = record[name];
    return text && text !== before?.[name] ? [[name, hideSecrets(text)]] : [];
  });
  return Object.fromEntries(changed);
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
    if (errorCode(error) === 'ENOENT') return empty;
    throw error;
  }
  try {
    return RegistrySchema.parse(decodeJson(bytes, { depth: 64, items: 200_000 }));
  } catch (error) {
    const aside = `${path}.damaged-${now().toISOString().replaceAll(/[:.]/g, '-')}`;
    await rename(path, aside);
    const reason = errorText(error).slice(0, 200);
    log('warn', 'the registry could not be understood and was set aside', { path, aside, reason });
    return empty;
  }
}
