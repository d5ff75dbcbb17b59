import { journalEntry } from '../agents/journal.ts';
import type { NoteFollower, NoteWake, Rule } from '../commands.ts';
import { wakeKey } from './wake.ts';

/** How a wake stands now, and what is told of it in the journal of the one who is woken. */
const noteWake: Rule<NoteWake> = {
  needs: ({ thread_id }) => ({ thread: thread_id }),
  decide({ located }, command) {
    const { wake, step } = command;
    const { workspace_id, target_agent_id: owner, trigger_id } = wake;
    const records = [
      { kind: 'wake' as const, workspace_id, key: wakeKey(wake), mark: wake.state, owner, value: wake },
    ];
    const result = { trigger_id };
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

/** How far a follower of the whole log has come. */
const noteFollower: Rule<NoteFollower> = {
  needs: () => ({}),
  decide: (_loaded, { caller: { workspace_id }, input: { name, pos } }) => ({
    changes: [],
    records: [{ kind: 'follower', workspace_id, key: name, mark: '', owner: name, value: { name, pos } }],
    result: { ok: true },
  }),
};

export const wakeRules = { note_wake: noteWake, note_follower: noteFollower };
