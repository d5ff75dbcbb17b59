import * as z from 'zod';

import { MailTally } from '../mail/mail-budget.ts';

/** What a session is doing, or how it ended; `stale`: the proxy that drove it is gone. */
const STATUSES = ['busy', 'idle', 'closed', 'interrupted', 'stale'] as const;

const text = z.string();

/** One session as it stands on disk; fields that this version does not know are kept. */
const SessionRecordSchema = z.looseObject({
  agent_id: text.min(1),
  backend: text,
  backend_id: text.nullable(),
  identity: text.min(1),
  team: text.min(1),
  repo_root: text.nullable(),
  repo_name: text.nullable(),
  branch: text.nullable(),
  cwd: text,
  started_at: text,
  last_active: text,
  status: z.enum(STATUSES),
  tag: text.nullable(),
  role: text.nullable().optional(),
  /** What the call that opened it asked for; where it named nothing, its role and the configuration decide. */
  model: text.nullable().optional(),
  sandbox: text.nullable().optional(),
  approval_policy: text.nullable().optional(),
  agent_name: text.nullable().optional(),
  agent_source: text.nullable().optional(),
  /** Whether mail starts turns of this session; the configuration says so unless this does. */
  auto_mail: z.boolean().nullable().optional(),
  /** What marks its mail, so that it is found in the record of its thread; nothing that is shown to anybody. */
  mail_key: text.nullable().optional(),
  /** What mail has used up of its budgets; none where that cannot be understood. */
  mail_tally: MailTally.nullable().optional().catch(null),
});

export type SessionRecord = z.output<typeof SessionRecordSchema>;

/** The whole file. */
export const RegistrySchema = z.looseObject({
  version: z.literal(1),
  sessions: z.array(SessionRecordSchema),
});

export type RegistryFile = z.output<typeof RegistrySchema>;

/** True while a session holds its identity. */
export function isActive({ status }: SessionRecord): boolean {
  return status === 'busy' || status === 'idle';
}
