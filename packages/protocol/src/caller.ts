import * as z from 'zod';

import { Role } from './entities.ts';
import { AgentName, Name } from './text.ts';

const Seconds = z.number().int().min(0).max(253_402_300_799);

/** The claims a token must carry, all of them, with these exact types. */
export const Claims = z.object({
  agent_id: AgentName,
  workspace_id: Name,
  role: Role,
  session_id: Name,
  iat: Seconds,
  exp: Seconds,
  jti: z.string().min(1).max(256),
  /** May look and change nothing, whatever the role says. */
  read_only: z.literal(true).optional(),
});
export type Claims = z.infer<typeof Claims>;

/** Who calls, taken from verified claims and from nowhere else. */
export type Caller = Pick<Claims, 'agent_id' | 'workspace_id' | 'role' | 'session_id' | 'read_only'>;
