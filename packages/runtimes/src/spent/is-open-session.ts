import { stat } from 'node:fs/promises';
import path from 'node:path';

import { liveClaudeSessions } from '../claude/live-sessions.ts';
import { THREAD_LOCKS } from '../codex/own-thread.ts';
import type { RecordedSession } from './session-record.ts';

/** True while some process of this machine has the session open. */
export async function isOpenSession({ runtime, home, id }: RecordedSession): Promise<boolean> {
  if (runtime === 'claude_code')
    return (await liveClaudeSessions(home)).some(({ sessionId }) => sessionId === id);
  return (await stat(path.join(home, THREAD_LOCKS, `${id}.lock`)).catch(() => undefined)) !== undefined;
}
