import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { errorCode } from '@parley/protocol';
import { isObject, type Loose, numberAt, textAt } from '../process/rpc-peer.ts';

/** A Claude Code session that is open in some process of this machine. */
export interface LiveClaudeSession {
  pid: number;
  sessionId: string;
  status: string | undefined;
  version: string | undefined;
  /** The protocol that its inbox speaks. */
  peerProtocol: number | undefined;
}

/** The sessions that Claude Code itself lists as open, without those whose process is gone. */
export async function liveClaudeSessions(configFolder: string): Promise<LiveClaudeSession[]> {
  const folder = path.join(configFolder, 'sessions');
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^\d+\.json$/.test(name));
  const found = await Promise.all(names.map((name) => readSession(path.join(folder, name))));
  return found.filter((session) => session !== undefined).filter(({ pid }) => isAlive(pid));
}

async function readSession(file: string): Promise<LiveClaudeSession | undefined> {
  const record = parse(await readFile(file, 'utf8').catch(() => ''));
  const pid = record && numberAt(record, 'pid');
  const sessionId = record && textAt(record, 'sessionId');
  if (record === undefined || pid === undefined || sessionId === undefined) return undefined;
  return {
    pid,
    sessionId,
    status: textAt(record, 'status'),
    version: textAt(record, 'version'),
    peerProtocol: numberAt(record, 'peerProtocol'),
  };
}

function parse(text: string): Loose | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
