import {
  type CallContext,
  type Commander,
  type Delivery,
  type Door,
  HUMAN_INPUT,
  type Look,
  NO_PROMPT,
  type WakeTarget,
} from '@parley/core';
import { type Caller, HUB_NAME, ParleyError, fieldsOf } from '@parley/protocol';

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

type LinkReply = Record<string, unknown>;

/**
 * The doors of those who are connected to `/ws`: a managed session without a terminal, by its commands `session_state`
 * and `session_deliver`; a supervisor, which types into the terminal of a managed session by its commands
 * `terminal_state`, `terminal_deliver` and `terminal_cancel`; and an agent that takes the command `wake`, and may tell by
 * `wake_state` whether it would.
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
    { workspace_id, agent_id, reach }: WakeTarget,
    command: string,
    parameters: LinkReply,
    timeout_ms: number,
    signal: AbortSignal,
    role: Caller['role'] = 'orchestrator',
  ): Promise<LinkReply> {
    const caller: Caller = { agent_id: HUB_NAME, workspace_id, role, session_id: 'hub' };
    const named = reach === undefined ? {} : { of_session: reach };
    const input = { of_agent: agent_id, ...named, command, parameters, timeout_ms };
    const { success, result, error } = await deps.commander.command(caller, input, deps.context(signal));
    if (!success) throw new ParleyError('UNAVAILABLE', error?.message ?? `${command} failed`);
    return fieldsOf(result);
  }

  const managed: Door = {
    name: 'managed',
    serves: (target) => target.managed && isHeadless(target),
    async look(target): Promise<Look> {
      const signal = AbortSignal.timeout(deps.stateMs + 1_000);
      const { state } = await ask(target, 'session_state', {}, deps.stateMs, signal);
      return state === 'idle' ? { can: 'now' } : { can: 'later', reason: wordOf(state, 'unknown') };
    },
    async deliver(target, { trigger_id, thread_id, prompt: text, force }, signal): Promise<Delivery> {
      // The same id at every attempt: what the session has taken it does not take again.
      const parameters = { delivery_id: trigger_id, thread_id, text, steer: force };
      const give = (until: AbortSignal) => ask(target, 'session_deliver', parameters, deps.proofMs, until);
      const answer = await give(signal);
      if (answer['result'] !== 'queued') return toTurn(answer);
      return { came: 'queued', arrives: arrival(() => give(AbortSignal.timeout(deps.proofMs))) };
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
    async deliver(target, doorRequest, signal): Promise<Delivery> {
      const { trigger_id, attempt, prompt: text, force, operator, audit } = doorRequest;
      // Under a name of its own each time: what was taken back stays so.
      const delivery_id = `${trigger_id}-${attempt}`;
      const mode = force ? { mode: 'force', operator, audit } : {};
      // Force is the operator's, who stands in the parameters: the hub has seen to it.
      const role = force ? 'operator' : 'orchestrator';
      const give = (wait_ms: number) => {
        const parameters = { delivery_id, text, wait_ms, ...mode };
        return ask(target, 'terminal_deliver', parameters, wait_ms + deps.stateMs, signal, role);
      };
      const answer = await give(Math.min(FIRST_WAIT_MS, deps.proofMs));
      if (answer['result'] !== 'deferred') return toDelivery(answer);
      // The hub itself looks again: it knows what was read meanwhile.
      const { cancelled } = await ask(target, 'terminal_cancel', { delivery_id }, deps.stateMs, signal);
      if (cancelled === true) return { came: 'deferred', reason: wordOf(answer['defer_reason'], 'deferred') };
      return toDelivery(await give(Math.min(MOST_WAIT_MS, deps.proofMs)));
    },
  };

  const command: Door = {
    name: 'command',
    serves: ({ commands }) => commands.includes('wake'),
    async look(target): Promise<Look> {
      if (!target.commands.includes('wake_state')) return { can: 'now' };
      const signal = AbortSignal.timeout(deps.stateMs + 1_000);
      const { state, reason } = await ask(target, 'wake_state', {}, deps.stateMs, signal);
      if (state === 'idle') return { can: 'now' };
      return { can: state === 'busy' ? 'later' : 'no', reason: wordOf(reason, 'closed') };
    },
    async deliver(target, doorRequest, signal): Promise<Delivery> {
      const answer = await ask(target, 'wake', { ...doorRequest }, deps.proofMs, signal);
      // What an agent of one's own making answers is that it has taken it.
      return 'delivered' in answer ? toOwnWord(answer) : { came: 'delivered', proof: 'runtime_status' };
    },
  };

  return [managed, supervisor, command];
}

function isHeadless({ commands }: WakeTarget): boolean {
  return commands.includes('session_deliver');
}

/** What is not being typed by then has something in its way, and other doors are looked at. */
const FIRST_WAIT_MS = 1_000;
/** The longest that a supervisor lets one wait for an outcome. */
const MOST_WAIT_MS = 60_000;

/** Whether the terminal is free: how long its person has been quiet, and what else is in the way. */
function toLook({ kind, state, draft, quiet_ms, lock, no_prompt }: LinkReply): Look {
  // A program that is not known to take text gets none, however long one waits.
  if (kind === 'closed') return { can: 'no', reason: 'program_closed' };
  const at = fieldsOf(state)['state'];
  const typed = typeof quiet_ms === 'number' ? { human_idle_ms: quiet_ms } : {};
  if (lock !== null && lock !== undefined) return { can: 'later', reason: 'taken_over' };
  if (draft === true) return { can: 'later', reason: HUMAN_INPUT };
  if (at === 'blocked' || at === 'working') return { can: 'later', reason: at, ...typed };
  if (no_prompt === undefined) return { can: 'now', ...typed };
  const { detail, starting } = fieldsOf(no_prompt);
  return {
    can: starting === true ? 'later' : 'perhaps',
    reason: `${NO_PROMPT}: ${wordOf(detail, 'it takes no text')}`,
  };
}

/** Asks again until the session says that what it has is worked on, or that it never will be. */
async function arrival(give: () => Promise<LinkReply>): Promise<Delivery & { came: 'delivered' | 'failed' }> {
  for (;;) {
    const answer = await give().catch((error: unknown) => ({ result: 'failed', reason: String(error) }));
    if (answer['result'] === 'queued') continue;
    const delivery = toTurn(answer);
    return delivery.came === 'delivered'
      ? delivery
      : { came: 'failed', reason: wordOf(answer['reason'], 'unproven') };
  }
}

/** What a session without a terminal says of what it was given. */
function toTurn({ result, proof, session_id, reason }: LinkReply): Delivery {
  if (result === 'deferred') return { came: 'deferred', reason: wordOf(reason, 'working') };
  if (proof !== 'runtime_status' && proof !== 'runtime_record') return { came: 'failed', reason: 'unproven' };
  return { came: 'delivered', proof, ...(typeof session_id === 'string' ? { session: session_id } : {}) };
}

/** Submitted means that the program itself took the text from its prompt; what was only typed is not delivered. */
function toDelivery({ result, detail }: LinkReply): Delivery {
  if (result === 'submitted') return { came: 'delivered', proof: 'runtime_status' };
  return { came: 'failed', reason: `unproven: ${wordOf(detail, wordOf(result, 'no answer'))}` };
}

/** An agent's own word counts as delivered only with what shows it. */
function toOwnWord({ delivered, proof, reason, deferred, session }: LinkReply): Delivery {
  if (delivered === true && (proof === 'runtime_status' || proof === 'runtime_record' || proof === 'cursor'))
    return { came: 'delivered', proof, ...(typeof session === 'string' ? { session } : {}) };
  const why = wordOf(reason, delivered === true ? 'unproven' : 'refused');
  return { came: deferred === true ? 'deferred' : 'failed', reason: why };
}

function wordOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value.slice(0, 200) : otherwise;
}
