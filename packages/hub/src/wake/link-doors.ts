import type { CallContext, Commander, Delivery, Door, Look, WakeTarget } from '@parley/core';
import { type Caller, HUB_NAME, ParleyError } from '@parley/protocol';

export interface LinkDoorDeps {
  commander: Commander;
  context: (signal: AbortSignal) => CallContext;
  /** How long an agent may take to say how it stands. */
  stateMs: number;
  proofMs: number;
  now: () => number;
  /** How long a supervisor that has lost its connection is expected back. */
  returnMs: number;
}

type Answer = Record<string, unknown>;

/**
 * The doors of those who are connected to `/ws`. A supervisor takes `state` ({alive, human_idle_ms}) and `deliver`
 * ({trigger_id, thread_id, prompt, force} → {delivered, proof} or {delivered: false, reason, deferred}); an agent of
 * one's own making takes `wake` with the same parameters, and what it answers is that it has taken it.
 */
export function createLinkDoors(deps: LinkDoorDeps): Door[] {
  const startedAt = deps.now();

  /** The hub has just come up, or the session was heard of a moment ago: its supervisor is on its way back. */
  function isAway({ session }: WakeTarget): boolean {
    if (session === undefined || session.status === 'offline') return false;
    const since = Math.max(startedAt, Date.parse(session.last_heartbeat_at));
    return deps.now() - since < deps.returnMs;
  }

  async function ask(
    { workspace_id, agent_id }: WakeTarget,
    command: string,
    parameters: Answer,
    timeout_ms: number,
    signal: AbortSignal,
  ): Promise<Answer> {
    const caller: Caller = { agent_id: HUB_NAME, workspace_id, role: 'orchestrator', session_id: 'hub' };
    const input = { of_agent: agent_id, command, parameters, timeout_ms };
    const { success, result, error } = await deps.commander.command(caller, input, deps.context(signal));
    if (!success) throw new ParleyError('UNAVAILABLE', error?.message ?? `${command} failed`);
    return result !== null && typeof result === 'object' ? (result as Answer) : {};
  }

  const supervisor: Door = {
    name: 'supervisor',
    serves: ({ managed }) => managed,
    async look(target): Promise<Look> {
      if (!target.commands.includes('deliver'))
        return isAway(target)
          ? { can: 'later', reason: 'supervisor_away' }
          : { can: 'no', reason: 'supervisor_not_connected' };
      const signal = AbortSignal.timeout(deps.stateMs + 1_000);
      const state = await ask(target, 'state', {}, deps.stateMs, signal);
      if (state['alive'] === false) return { can: 'no', reason: 'process_gone' };
      const idle = state['human_idle_ms'];
      return typeof idle === 'number' ? { can: 'now', human_idle_ms: idle } : { can: 'now' };
    },
    async deliver(target, errand, signal): Promise<Delivery> {
      return toDelivery(await ask(target, 'deliver', { ...errand }, deps.proofMs, signal));
    },
  };

  const command: Door = {
    name: 'command',
    serves: ({ commands }) => commands.includes('wake'),
    look: async () => ({ can: 'now' }),
    async deliver(target, errand, signal): Promise<Delivery> {
      const answer = await ask(target, 'wake', { ...errand }, deps.proofMs, signal);
      // What an agent of one's own making answers is that it has taken it.
      return 'delivered' in answer ? toDelivery(answer) : { came: 'delivered', proof: 'runtime_status' };
    },
  };

  return [supervisor, command];
}

/** A supervisor's word counts as delivered only with what shows it. */
function toDelivery({ delivered, proof, reason, deferred, session }: Answer): Delivery {
  if (delivered === true && (proof === 'runtime_status' || proof === 'runtime_record' || proof === 'cursor'))
    return { came: 'delivered', proof, ...(typeof session === 'string' ? { session } : {}) };
  const why = typeof reason === 'string' ? reason.slice(0, 200) : delivered === true ? 'unproven' : 'refused';
  return { came: deferred === true ? 'deferred' : 'failed', reason: why };
}
