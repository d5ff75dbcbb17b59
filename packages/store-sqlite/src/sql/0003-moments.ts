/** What has its moment is listed by it, so that who looks for what is over need not read what is not. */
export const sql = `
CREATE INDEX delivery_by_moment ON records (mark, json ->> '$.finished_at', workspace_id, key) WHERE kind = 'delivery';
CREATE INDEX document_by_moment ON records (mark, json ->> '$.delete_at', workspace_id, key) WHERE kind = 'document';
CREATE INDEX mutes_by_moment ON records (mark, json ->> '$.next', workspace_id, key) WHERE kind = 'mutes';
CREATE INDEX nonce_by_moment ON records (mark, json ->> '$.until', workspace_id, key) WHERE kind = 'nonce';
CREATE INDEX notice_by_moment ON records (mark, json ->> '$.created_at', workspace_id, key) WHERE kind = 'notice';
`;
