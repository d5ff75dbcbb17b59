import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { inboxName, sameInbox } from '@parley/mail';
import { ParleyError } from '@parley/protocol';
import { type FileLock, isFileLocked, lockFile } from '@parley/sqlite';

import { proxyError } from '../errors.ts';

/** Who is bound to which session; an identity is bound once in this process, and held by one process of this machine. */
export interface Identities {
  /** Holds the identity of this very instance until the end. */
  hold(identity: string): void;
  /** Throws IDENTITY_CONFLICT when it is bound here, or held by another process. */
  bind(identity: string, agentId: string): void;
  /** Means nothing unless the identity is bound to that session. */
  release(identity: string, agentId: string): void;
  /** True for what this process holds, for itself or for a session. */
  holds(identity: string): boolean;
  /** Throws IDENTITY_CONFLICT when another process holds the identity. */
  checkFree(identity: string): void;
  /** True for an identity that some proxy had and that nobody holds any more. */
  isGone(identity: string): boolean;
  agentOf(identity: string): string | undefined;
  bindings(): { identity: string; agent_id: string }[];
  close(): void;
}

/** Locks stand at `<sessions>/<team>/<identity>.lock`; the kernel gives them back, whatever becomes of us. */
export function createIdentities(sessions: string, team: string): Identities {
  const folder = join(sessions, team);
  const agentByIdentity = new Map<string, string>();
  const lockByIdentity = new Map<string, FileLock>();
  const held = new Set<string>();

  const lock = (identity: string): void => {
    if (lockByIdentity.has(identity)) return;
    const twin = [...lockByIdentity.keys()].find((name) => sameInbox(name, identity));
    if (twin !== undefined)
      throw proxyError('IDENTITY_CONFLICT', `Identity conflict: '${identity}' is too like '${twin}'`, {
        identity,
        team,
        conflicting_agent_id: agentByIdentity.get(twin) ?? null,
      });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    try {
      lockByIdentity.set(identity, lockAll(folder, identity));
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      const why =
        error.code === 'CONFLICT' ? 'is held by another process' : `cannot be had: ${error.message}`;
      throw proxyError('IDENTITY_CONFLICT', `Identity conflict: '${identity}' of team '${team}' ${why}`, {
        identity,
        team,
        conflicting_agent_id: null,
      });
    }
  };
  const unlock = (identity: string): void => {
    if (held.has(identity)) return;
    lockByIdentity.get(identity)?.release();
    lockByIdentity.delete(identity);
  };

  return {
    hold(identity) {
      lock(identity);
      held.add(identity);
    },
    bind(identity, agentId) {
      const other = agentByIdentity.get(identity);
      if (other !== undefined && other !== agentId)
        throw proxyError(
          'IDENTITY_CONFLICT',
          `Identity conflict: '${identity}' is already bound to agent_id '${other}'`,
          { identity, conflicting_agent_id: other },
        );
      lock(identity);
      agentByIdentity.set(identity, agentId);
    },
    release(identity, agentId) {
      if (agentByIdentity.get(identity) !== agentId) return;
      agentByIdentity.delete(identity);
      unlock(identity);
    },
    holds: (identity) => lockByIdentity.has(identity),
    checkFree(identity) {
      if (lockByIdentity.has(identity)) return;
      lock(identity);
      unlock(identity);
    },
    isGone(identity) {
      const path = join(folder, `${identity}.lock`);
      return !lockByIdentity.has(identity) && existsSync(path) && !isFileLocked(path);
    },
    agentOf: (identity) => agentByIdentity.get(identity),
    bindings: () => [...agentByIdentity].map(([identity, agent_id]) => ({ identity, agent_id })),
    close() {
      held.clear();
      agentByIdentity.clear();
      for (const identity of lockByIdentity.keys()) unlock(identity);
    },
  };
}

/** The lock of the name itself and, where that differs, of the inbox it has. */
function lockAll(folder: string, identity: string): FileLock {
  const taken: FileLock[] = [];
  const release = (): void => {
    for (const one of taken) one.release();
  };
  try {
    for (const stem of new Set([identity, inboxName(identity)]))
      taken.push(lockFile(join(folder, `${stem}.lock`), 0));
  } catch (error) {
    release();
    throw error;
  }
  return { release };
}
