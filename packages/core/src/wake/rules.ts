import { HUB_NAME, type Quiet } from '@parley/protocol';

import { journalEntry } from '../agents/journal.ts';
import type { NoteWake, Rule, SetQuiet, WakeStep } from '../commands.ts';
import { checkUnmuted } from '../participation/speaking.ts';
import type { PutRecord } from '../records.ts';
import { spend } from './budget.ts';
import { SKIP_REASONS } from './policy.ts';
import { EVERYBODY } from './quiet.ts';
import { type Wake, wakeKey } from './wake.ts';

/** How a wake stands now, and what is told of it in the journal of the one who is woken. */
const noteWake: Rule<NoteWake> = {
  needs: ({ thread_id, budget, caller, wake }) => ({
    thread: thread_id,
    // What the hub goes on with was asked for before.
    ...(caller.agent_id === HUB_NAME ? {} : { other: wake.thread_id }),
    ...(budget === undefined
      ? {}
      : { records: true as const, gets: [{ kind: 'tally' as const, key: wake.target_agent_id }] }),
  }),
  decide({ located, other, records: kept }, command) {
    const { budget, now } = command;
    // To wake somebody is to call upon them, in words of one's own; in a paused thread nobody is woken anyway.
    if (other !== undefined) checkUnmuted(other, command.caller);
    const { workspace_id, target_agent_id: owner, trigger_id, by } = command.wake;
    const tally = budget && spend(kept?.get('tally', owner), { by, target: owner, now }, budget);
    const isOver = budget !== undefined && tally === undefined;
    const wake = isOver ? overBudget(command.wake) : command.wake;
    const step = isOver && command.step !== undefined ? overBudgetStep(command.step) : command.step;
    const put = { workspace_id, owner };
    const records: PutRecord[] = [
      { kind: 'wake', ...put, key: wakeKey(wake), mark: wake.state, value: wake },
    ];
    if (tally !== undefined) records.push({ kind: 'tally', ...put, key: owner, mark: '', value: tally });
    const result = { trigger_id, state: wake.state };
    if (step === undefined) return { changes: [], records, result };
    const { change } = journalEntry(located, owner, command, {
      type: 'agent.wake',
      kind: 'system',
      body: step.text,
      to: owner,
      metadata: { trigger_id, thread_id: wake.thread_id, ...step.facts },
    });
    return { changes: [change], records, result };
  },
};

function overBudget(wake: Wake): Wake {
  return { ...wake, state: 'skipped', skip: 'budget', settled_at: wake.asked_at };
}

function overBudgetStep({ facts }: WakeStep): WakeStep {
  return { text: `not woken: ${SKIP_REASONS.budget}`, facts: { ...facts, step: 'skipped', skip: 'budget' } };
}

/** One quiet for each agent, and one for everybody: the last word counts. */
const setQuiet: Rule<SetQuiet> = {
  needs: ({ thread_id }) => ({ thread: thread_id }),
  decide({ located }, command) {
    const { caller, now, input } = command;
    const { workspace_id, agent_id: by } = caller;
    const { quiet, of_agent, for_ms, hours, reason } = input;
    const key = of_agent ?? EVERYBODY;
    const name = { kind: 'quiet', workspace_id, key } as const;
    const who = of_agent ?? 'everybody';
    const tell = (body: string, facts: object) =>
      journalEntry(located, of_agent ?? by, command, {
        type: 'agent.quiet',
        kind: 'system',
        body,
        metadata: { of_agent: of_agent ?? null, ...facts },
      }).change;
    if (!quiet)
      return {
        changes: [tell(`${who} may be woken again`, { quiet: false })],
        drops: [name],
        result: { quiet: null },
      };
    const value: Quiet = {
      agent_id: of_agent ?? null,
      since: new Date(now).toISOString(),
      by,
      ...(for_ms === undefined ? {} : { until: new Date(now + for_ms).toISOString() }),
      ...(hours === undefined ? {} : { hours }),
      ...(reason === undefined ? {} : { reason }),
    };
    const { agent_id: _who, ...facts } = value;
    return {
      changes: [tell(`${who} is not to be woken`, { quiet: true, ...facts })],
      records: [{ ...name, mark: '', owner: key, value }],
      result: { quiet: value },
    };
  },
};

export const wakeRules = { note_wake: noteWake, set_quiet: setQuiet };
