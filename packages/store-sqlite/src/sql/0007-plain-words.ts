/**
 * What a person allows in advance is an approval rule, and what a delivery carries its body: rows under the older names
 * get the new ones, if they are as they were written.
 */
const RULE = "json_set(json_remove(json, '$.leave_id'), '$.approval_rule_id', json ->> '$.leave_id')";

export const sql = `
UPDATE records SET kind = 'approval_rule', json = ${RULE},
  sum = row_sum('approval_rule', workspace_id, key, mark, owner, ${RULE})
  WHERE kind = 'leave' AND sum = row_sum(kind, workspace_id, key, mark, owner, json);
UPDATE records SET kind = 'delivery_body', sum = row_sum('delivery_body', workspace_id, key, mark, owner, json)
  WHERE kind = 'letter' AND sum = row_sum(kind, workspace_id, key, mark, owner, json);
DELETE FROM tallies WHERE name IN ('record leave', 'record letter');
`;
