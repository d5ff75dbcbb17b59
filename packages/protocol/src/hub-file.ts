import { z } from 'zod';

import { Name } from './text.ts';

/** What a running hub leaves in its data folder for programs of the same user. */
export const HUB_FILE = 'hub.json';

/** The file on which a running hub holds a lock: without it, what HUB_FILE says is of the past. */
export const HUB_LOCK = 'hub.lock';

/** Who can read it may have worker tokens of the hub under `LOCAL_TOKEN_PATH`, for as long as this hub runs. */
export const HubFile = z.object({
  url: z.string().min(1),
  pid: z.number().int(),
  version: z.string(),
  key: z.string().min(1).optional(),
  /** It lives in the `parley mcp` of a client and ends with it: whoever is left then runs one. */
  embedded: z.boolean().optional(),
});
export type HubFile = z.infer<typeof HubFile>;

/** Where the hub hands out tokens to programs of its own user. */
export const LOCAL_TOKEN_PATH = '/local/token';

/** Who such a token is for. */
export const LocalTokenRequest = z.strictObject({
  agent_id: Name,
  session_id: Name,
  workspace_id: Name.optional(),
});

export const LocalToken = z.object({ token: z.string().min(1), expires_at: z.iso.datetime() });
