import { type Agent, ParleyError } from '@parley/protocol';

import type { ForgetAgent, ForgetOnce, Loaded, Needs, Rule } from '../commands.ts';
import type { RecordName } from '../records.ts';
import type { StoredSession } from '../sessions/stored-session.ts';
import { openFailure } from './failure.ts';
import { journalEntry } from './journal.ts';
import { isGone, lastSeen } from './state.ts';

/** True for the entry of a program that `parley run` started and that never said anything itself. */
export function isRunOnce(agent: Agent): boolean {
  const { registration, last_event } = agent;
  const isOne = typeof registration?.metadata?.['supervisor'] === 'number' && last_event === undefined;
  return isOne && openFailure(agent) === undefined;
}

type Forget = ForgetAgent | ForgetOnce;

const needsAgent = ({ thread_id, input }: Forget): Needs => ({
  thread: thread_id,
  record: { kind: 'agent', key: input.of_agent },
  records: true,
  lists: [sessionsOf(input.of_agent)],
});

const sessionsOf = (agent: string) => ({ kind: 'session', prefix: `${agent} ` }) as const;

/** What is known of the agent that is to be forgotten. */
function knownOf({ record, records }: Loaded, { now, input }: Forget) {
  const agent = record?.agent;
  const sessions: StoredSession[] = records?.list(sessionsOf(input.of_agent)) ?? [];
  const isThere = !isGone({ agent, sessions }, input.offline_after_ms, now);
  return { agent, sessions, seen: lastSeen({ agent, sessions }), isThere };
}

/** Takes the agent and its sessions off the list; its journal tells who did so, and everything it said stays. */
const forgetAgent: Rule<ForgetAgent> = {
  needs: needsAgent,
  decide(loaded, command) {
    const { of_agent, reason } = command.input;
    const { workspace_id } = command.caller;
    const { sessions, seen, isThere } = knownOf(loaded, command);
    if (seen === undefined) throw new ParleyError('NOT_FOUND', `no agent ${of_agent} is known here`);
    if (isThere) throw stillThere(of_agent, `was heard at ${seen}`);
    const { entry, change } = journalEntry(loaded.located, of_agent, command, {
      type: 'agent.forgotten',
      kind: 'system',
      body: reason ?? `${of_agent} is gone and was taken off the list`,
      metadata: { of_agent, last_seen: seen, sessions: sessions.length },
    });
    const drops: RecordName[] = [
      { kind: 'agent', workspace_id, key: of_agent },
      ...sessions.map(({ session_id }) => ({
        kind: 'session' as const,
        workspace_id,
        key: `${of_agent} ${session_id}`,
      })),
    ];
    const result = { agent_id: of_agent, forgotten_at: entry.created_at, sessions: sessions.length };
    return { changes: [change], drops, result };
  },
};

const forgetOnce: Rule<ForgetOnce> = {
  needs: needsAgent,
  decide(loaded, command) {
    const { agent, seen, isThere } = knownOf(loaded, command);
    const isOver =
      agent !== undefined && isRunOnce(agent) && seen !== undefined && seen < command.input.before;
    if (!isOver || isThere) return { changes: [], result: {} };
    const { caller, now, salt, thread_id, input } = command;
    const forget = { type: 'forget_agent', caller, now, salt, thread_id, input } as const;
    const forgotten = forgetAgent.decide(loaded, forget);
    return { ...forgotten, result: {} };
  },
};

export const forgetRules = { forget_agent: forgetAgent, forget_once: forgetOnce };

/** Whoever is there would be on the list again at once. */
export function stillThere(agent: string, why: string): ParleyError {
  return new ParleyError(
    'CONFLICT',
    `${agent} ${why}: end its program first, or wait until it reads offline`,
    {
      reason: 'still_there',
    },
  );
}
