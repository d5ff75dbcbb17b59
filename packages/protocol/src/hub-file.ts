import { fieldsOf } from './read-unknown.ts';

/** What a running hub leaves in its data folder for programs of the same user. */
export const HUB_FILE = 'hub.json';

/** The file on which a running hub holds a lock: without it, what HUB_FILE says is of the past. */
export const HUB_LOCK = 'hub.lock';

/** Where the hub hands out tokens to programs of its own user. */
export const LOCAL_TOKEN_PATH = '/local/token';

/** Where the hub tells programs of its own user in which workspaces somebody waits for a person. */
export const LOCAL_ASKS_PATH = '/local/asks';

/** Where the hub gives whoever owns its data folder a code by which a person adds a passkey. */
export const LOCAL_PASSKEY_PATH = '/local/passkey-code';

/** Who can read it may have worker tokens of the hub under `LOCAL_TOKEN_PATH`, for as long as this hub runs. */
export interface HubFile {
  url: string;
  pid: number;
  version: string;
  key?: string;
  /** It lives in the `parley mcp` of a client and ends with it: whoever is left then runs one. */
  embedded?: boolean;
}

/** What the file says; undefined for anything else. Read by every program that looks for a hub, so it costs little. */
export function readHubFile(text: string): HubFile | undefined {
  const { url, pid, version, key, embedded } = fieldsOf(JSON.parse(text));
  if (typeof url !== 'string' || url === '' || typeof version !== 'string') return undefined;
  if (typeof pid !== 'number' || !Number.isInteger(pid)) return undefined;
  return {
    url,
    pid,
    version,
    ...(typeof key === 'string' && key !== '' ? { key } : {}),
    ...(typeof embedded === 'boolean' ? { embedded } : {}),
  };
}
