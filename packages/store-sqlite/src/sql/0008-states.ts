/** What agents were at is listed by agent; it is forgotten after a while, as is what they used, the oldest first. */
export const sql = `
CREATE INDEX agent_states_by_owner ON records (workspace_id, owner, key) WHERE kind = 'agent_state';
CREATE INDEX agent_state_by_moment ON records (mark, json ->> '$.until', workspace_id, key) WHERE kind = 'agent_state';
CREATE INDEX usage_by_moment ON records (mark, json ->> '$.day', workspace_id, key) WHERE kind = 'usage';
`;
