/** Deliveries are listed by their sender: one with few is answered at the same cost however many others there are. */
export const sql = `
CREATE INDEX deliveries_by_owner ON records (workspace_id, owner, key) WHERE kind = 'delivery';
CREATE INDEX deliveries_by_owner_and_mark ON records (workspace_id, owner, mark, key) WHERE kind = 'delivery';
`;
