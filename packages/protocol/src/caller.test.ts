import { expect, test } from 'vitest';

import { Claims } from './caller.ts';

const claims = { workspace_id: 'w', role: 'worker', session_id: 's', iat: 1, exp: 2, jti: 'j' };

test('[BRIDGE-16] nobody can be named as the hub or as everybody', () => {
  for (const agent_id of ['parley', 'Parley', 'system', 'System', 'all', 'ALL'])
    expect(Claims.safeParse({ ...claims, agent_id }).success).toBe(false);
  for (const agent_id of ['parley-2', 'alloy', 'bob'])
    expect(Claims.safeParse({ ...claims, agent_id }).success).toBe(true);
});
