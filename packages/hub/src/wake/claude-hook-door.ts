import type { Clock, Delivery, Door, FoundSession, Look, WaitingSessions, WakeTarget } from '@parley/core';

/** How long a session that was just given a wake counts as busy without a heartbeat. */
const FRESH_MS = 60_000;

/**
 * The door of a Claude Code whose hook waits at the hub: it hands the text to its session and ends. That its session
 * works on it is shown by the next hook, which finds it in the session's own transcript.
 */
export function createClaudeHookDoor({ waiting, clock }: { waiting: WaitingSessions; clock: Clock }): Door {
  const find = ({ workspace_id, agent_id, native_id }: WakeTarget): FoundSession | undefined =>
    waiting.find(workspace_id, agent_id, native_id);

  /** It was given a wake and is not back: at work on it, unless nothing is heard of it any more. */
  function isAtWork({ session }: WakeTarget, givenAt: number): boolean {
    if (clock.monotonic() - givenAt < FRESH_MS) return true;
    if (session === undefined || session.status === 'offline') return false;
    return clock.now() - Date.parse(session.last_heartbeat_at) < FRESH_MS;
  }

  return {
    name: 'claude_hook',
    serves: (target) => target.family === 'claude' && find(target) !== undefined,
    async look(target): Promise<Look> {
      const found = find(target);
      if (found === undefined) return { can: 'no', reason: 'no_hook_waits' };
      if (found.state === 'waiting') return { can: 'now' };
      return isAtWork(target, found.state.givenAt)
        ? { can: 'later', reason: 'session_busy' }
        : { can: 'no', reason: 'no_hook_waits' };
    },
    async deliver(target, { trigger_id, thread_id, prompt, again }, signal): Promise<Delivery> {
      const found = find(target);
      if (again && found !== undefined && waiting.holds(found, trigger_id))
        return { came: 'delivered', proof: 'runtime_record', session: found.session };
      if (found === undefined || found.state !== 'waiting')
        return { came: 'deferred', reason: 'session_busy' };
      const arrives = waiting
        .seen(trigger_id)
        .then(() => ({ came: 'delivered', proof: 'runtime_record', session: found.session }) as const);
      await waiting.give(found, { trigger_id, thread_id, prompt }, signal);
      return { came: 'queued', arrives };
    },
  };
}
