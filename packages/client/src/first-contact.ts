import { inTime } from '@parley/protocol';

/** How long a call that nobody needs may take. */
const LIMIT_MS = 1_000;

let isMade = false;

/**
 * The global fetch, whose first call ends. In Node, where undici is older than 7.12, a process that has never spoken HTTP
 * compiles its parser while it connects; a connection that is closed meanwhile, as a proxy does whose hub is away, is not
 * noticed, and the call waits until its limit. So a call that nobody needs goes first, until one was answered.
 */
export async function fetchHub(url: string, init: RequestInit): Promise<Response> {
  if (!isMade && isAffected(undiciVersion())) isMade = await firstContact(url, init.signal);
  return fetch(url, init);
}

/** True for the versions that compile while they connect. */
export function isAffected(version: string | undefined): boolean {
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  return version !== undefined && (major < 7 || (major === 7 && minor < 12));
}

/** True when it was answered, with whatever: from then on every call ends as it should. */
function firstContact(url: string, signal: AbortSignal | null | undefined): Promise<boolean> {
  return inTime(LIMIT_MS, signal ?? new AbortController().signal, async (limit) => {
    const response = await fetch(new URL('/healthz', url), { signal: limit, redirect: 'error' });
    await response.text();
    return true;
  }).catch(() => false);
}

function undiciVersion(): string | undefined {
  // Only Node has this.
  const { process } = globalThis as { process?: { versions?: { undici?: string } } };
  return process?.versions?.undici;
}
