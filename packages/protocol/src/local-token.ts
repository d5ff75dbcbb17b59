import * as z from 'zod';

import { Name } from './text.ts';

/** Who a token is for that the hub hands out to programs of its own user. */
export const LocalTokenRequest = z.strictObject({
  agent_id: Name,
  session_id: Name,
  workspace_id: Name.optional(),
});

export const LocalToken = z.object({ token: z.string().min(1), expires_at: z.iso.datetime() });

/** For whom a code is that adds a passkey. */
export const LocalPasskeyRequest = z.strictObject({ person: Name, workspace_id: Name });

/** In which workspaces of the hub somebody waits for a person, and how many. */
export const LocalAsks = z.object({
  workspaces: z.array(z.object({ workspace_id: z.string(), open: z.number().int() })),
});
export type LocalAsks = z.infer<typeof LocalAsks>;
