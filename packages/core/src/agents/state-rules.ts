import type { NoteAgentStates, Rule } from '../commands.ts';
import type { PutRecord } from '../records.ts';
import { type AgentStateRecord, stretchKey } from './stretch.ts';

/** Whoever watches the agents has the lease, and has decided what is new: it is written as it comes. */
const noteAgentStates: Rule<NoteAgentStates> = {
  needs: () => ({}),
  decide: (_loaded, { caller: { workspace_id }, input: { states, drops } }) => ({
    changes: [],
    records: states.map(putStretch),
    drops: drops.map((key) => ({ kind: 'agent_state', workspace_id, key })),
    result: {},
  }),
};

export const stateRules = { note_agent_states: noteAgentStates };

/** The stretch as a record; those that go on are marked apart. */
function putStretch(value: AgentStateRecord): PutRecord {
  const { workspace_id, agent_id: owner, until } = value;
  const mark = until === undefined ? 'now' : 'over';
  return { kind: 'agent_state', workspace_id, key: stretchKey(value), mark, owner, value };
}
