import {
  type CallContext,
  type Commander,
  type Delivery,
  type Door,
  HUMAN_INPUT,
  type Look,
  type WakeTarget,
} from '@parley/core';
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
 * The doors of those who are connected to `/ws`: a managed session without a terminal, by its commands `session_state`
 * and `session_deliver`; a supervisor, which types into the terminal of a managed session by its commands
 * `terminal_state`, `terminal_deliver` and `terminal_cancel`; and an agent that takes the command `wake`.
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
    role: Caller['role'] = 'orchestrator',
  ): Promise<Answer> {
    const caller: Caller = { agent_id: HUB_NAME, workspace_id, role, session_id: 'hub' };
    const input = { of_agent: agent_id, command, parameters, timeout_ms };
    const { success, result, error } = await deps.commander.command(caller, input, deps.context(signal));
    if (!success) throw new ParleyError('UNAVAILABLE', error?.message ?? `${command} failed`);
    return result !== null && typeof result === 'object' ? (result as Answer) : {};
  }

  const managed: Door = {
    name: 'managed',
    serves: (target) => target.managed && isHeadless(target),
    async look(target): Promise<Look> {
      const signal = AbortSignal.timeout(deps.stateMs + 1_000);
      const { state } = await ask(target, 'session_state', {}, deps.stateMs, signal);
      return state === 'idle' ? { can: 'now' } : { can: 'later', reason: wordOf(state, 'unknown') };
    },
    async deliver(target, { trigger_id, prompt: text, force }, signal): Promise<Delivery> {
      // The same id at every attempt: what the session has taken it does not take again.
      const parameters = { delivery_id: trigger_id, text, steer: force };
      const answer = await ask(target, 'session_deliver', parameters, deps.proofMs, signal);
      const { result, proof, session_id } = answer;
      if (result === 'deferred') return { came: 'deferred', reason: wordOf(answer['reason'], 'working') };
      if (proof !== 'runtime_status' && proof !== 'runtime_record')
        return { came: 'failed', reason: 'unproven' };
      return { came: 'delivered', proof, ...(typeof session_id === 'string' ? { session: session_id } : {}) };
    },
  };

  const supervisor: Door = {
    name: 'supervisor',
    serves: (target) => target.managed && !isHeadless(target),
    async look(target): Promise<Look> {
      if (!target.commands.includes('terminal_deliver'))
        return isAway(target)
          ? { can: 'later', reason: 'supervisor_away' }
          : { can: 'no', reason: 'supervisor_not_connected' };
      const signal = AbortSignal.timeout(deps.stateMs + 1_000);
      return toLook(await ask(target, 'terminal_state', {}, deps.stateMs, signal));
    },
    async deliver(target, errand, signal): Promise<Delivery> {
      const { trigger_id, attempt, prompt: text, force, operator, audit } = errand;
      // Under a name of its own each time: what was taken back stays so.
      const delivery_id = `${trigger_id}-${attempt}`;
      const wait_ms = Math.min(MOST_WAIT_MS, deps.proofMs);
      const mode = force ? { mode: 'force', operator, audit } : {};
      const parameters = { delivery_id, text, wait_ms, ...mode };
      // Force is the operator's, who stands in the parameters: the hub has seen to it.
      const role = force ? 'operator' : 'orchestrator';
      const give = () => ask(target, 'terminal_deliver', parameters, wait_ms + deps.stateMs, signal, role);
      const answer = await give();
      if (answer['result'] !== 'deferred') return toDelivery(answer);
      // The hub itself looks again: it knows what was read meanwhile.
      const { cancelled } = await ask(target, 'terminal_cancel', { delivery_id }, deps.stateMs, signal);
      if (cancelled === true) return { came: 'deferred', reason: wordOf(answer['defer_reason'], 'deferred') };
      return toDelivery(await give());
    },
  };

  const command: Door = {
    name: 'command',
    serves: ({ commands }) => commands.includes('wake'),
    look: async () => ({ can: 'now' }),
    async deliver(target, errand, signal): Promise<Delivery> {
      const answer = await ask(target, 'wake', { ...errand }, deps.proofMs, signal);
      // What an agent of one's own making answers is that it has taken it.
      return 'delivered' in answer ? toOwnWord(answer) : { came: 'delivered', proof: 'runtime_status' };
    },
  };

  return [managed, supervisor, command];
}

function isHeadless({ commands }: WakeTarget): boolean {
  return commands.includes('session_deliver');
}

/** The longest that a supervisor lets one wait for an outcome. */
const MOST_WAIT_MS = 60_000;

/** Whether the terminal is free: how long its person has been quiet, and what else is in the way. */
function toLook({ state, draft, quiet_ms, lock }: Answer): Look {
  const at = (state as { state?: unknown } | undefined)?.state;
  const typed = typeof quiet_ms === 'number' ? { human_idle_ms: quiet_ms } : {};
  if (lock !== null && lock !== undefined) return { can: 'later', reason: 'taken_over' };
  if (draft === true) return { can: 'later', reason: HUMAN_INPUT };
  if (at === 'blocked' || at === 'working') return { can: 'later', reason: at, ...typed };
  return { can: 'now', ...typed };
}

/** Submitted means that the program itself took the text from its prompt; what was only typed is not delivered. */
function toDelivery({ result, detail }: Answer): Delivery {
  if (result === 'submitted') return { came: 'delivered', proof: 'runtime_status' };
  return { came: 'failed', reason: `unproven: ${wordOf(detail, wordOf(result, 'no answer'))}` };
}

/** An agent's own word counts as delivered only with what shows it. */
function toOwnWord({ delivered, proof, reason, deferred, session }: Answer): Delivery {
  if (delivered === true && (proof === 'runtime_status' || proof === 'runtime_record' || proof === 'cursor'))
    return { came: 'delivered', proof, ...(typeof session === 'string' ? { session } : {}) };
  const why = wordOf(reason, delivered === true ? 'unproven' : 'refused');
  return { came: deferred === true ? 'deferred' : 'failed', reason: why };
}

function wordOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value.slice(0, 200) : otherwise;
}
