import { z } from 'zod';

import { contract, READS, WRITES } from './contract.ts';
import { IdempotencyKey, Timestamp } from './entities.ts';
import { Name, storableText } from './text.ts';

const Pattern = storableText({ maxBytes: 4_096 }).describe(
  'the whole command; each * is anything but what joins or redirects commands, quotes or substitutes',
);

/** A leave that a person gives in advance: asks that match it are approved at once, in their name. */
export const Leave = z
  .object({
    leave_id: Name,
    of_agent: Name,
    command: z.string(),
    cwd: z.string().optional(),
    given_by: Name,
    created_at: Timestamp,
    expires_at: Timestamp.optional(),
    uses: z.number().int(),
    last_used_at: Timestamp.optional(),
  })
  .meta({ id: 'Leave' });
export type Leave = z.infer<typeof Leave>;

export const listLeaves = contract({
  name: 'list_leaves',
  version: '1.0.0',
  title: 'List rules of approval',
  description: 'The commands that are approved without asking; operators only.',
  input: z.object({}),
  output: z.object({ leaves: z.array(Leave) }),
  annotations: READS,
  http: { method: 'GET', path: '/v1/leaves' },
  essential: false,
});

export const addLeave = contract({
  name: 'add_leave',
  version: '1.0.0',
  title: 'Add a rule of approval',
  description:
    'Approve such commands of one agent from now on without asking; never those of high risk. Operators only.',
  input: z.object({
    of_agent: Name,
    command: Pattern,
    cwd: storableText({ maxBytes: 4_096 }).optional().describe('only in this folder'),
    expires_in_ms: z.number().int().min(1_000).max(31_536_000_000).optional(),
    idempotency_key: IdempotencyKey.optional(),
  }),
  output: z.object({ leave: Leave }),
  annotations: WRITES,
  essential: false,
  strict: true,
});

export const revokeLeave = contract({
  name: 'revoke_leave',
  version: '1.0.0',
  title: 'Revoke a rule of approval',
  description: 'From now on a person is asked again.',
  input: z.object({ leave_id: Name, idempotency_key: IdempotencyKey.optional() }),
  output: z.object({ leave: Leave }),
  annotations: WRITES,
  essential: false,
  strict: true,
});
