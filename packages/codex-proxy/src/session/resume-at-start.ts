import { ParleyError } from '@parley/protocol';

import { isActive, type SessionRecord } from '../registry/session-record.ts';
import { type CodexDeps, takeUp } from '../tools/codex.ts';

/** `serve --resume`: opens the newest session of this identity, or the one that was named, before the client asks. */
export async function resumeAtStart(deps: CodexDeps, wanted: string | true): Promise<void> {
  const record = wanted === true ? newestOf(deps) : deps.sessions.find(wanted);
  if (record === undefined) {
    if (wanted !== true)
      throw new ParleyError('NOT_FOUND', `There is no session '${wanted}'; see \`atm-agent-mcp sessions\``);
    deps.log('warn', 'there is no session to resume', { identity: deps.settings.identity });
    return;
  }
  await takeUp(deps, record, {}, 'with_instructions').catch((error: Error) => {
    if (wanted !== true) throw error;
    const { agent_id } = record;
    deps.log('warn', 'the newest session could not be resumed', { agent_id, reason: error.message });
  });
}

function newestOf({ sessions, settings }: CodexDeps): SessionRecord | undefined {
  return sessions
    .list()
    .filter((one) => one.identity === settings.identity && one.backend_id !== null && !isActive(one))
    .toSorted((a, b) => b.last_active.localeCompare(a.last_active))[0];
}
