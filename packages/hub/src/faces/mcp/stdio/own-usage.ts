import { liveClaudeSessions, type RecordedSession } from '@parley/runtimes';

import type { HostSession } from './host-session.ts';

/** The session that started this process, by the id it has now: in Claude Code a person may begin another in its place. */
export async function recordedSession(
  host: HostSession | undefined,
  hostPid: number,
): Promise<RecordedSession[]> {
  const { runtime, home, id } = host ?? {};
  if (home === undefined || (runtime !== 'claude_code' && runtime !== 'codex_cli')) return [];
  const live = runtime === 'claude_code' ? await liveClaudeSessions(home) : [];
  const ids = [id, live.find(({ pid }) => pid === hostPid)?.sessionId];
  return [...new Set(ids)].flatMap((one) => (one === undefined ? [] : [{ runtime, home, id: one }]));
}
