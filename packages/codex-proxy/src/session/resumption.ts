import { proxyError } from '../errors.ts';
import type { Log } from '../logger.ts';
import type { Registry } from '../registry/open-registry.ts';
import type { SessionRecord } from '../registry/session-record.ts';

/** The session that the next `codex` call of its identity takes up, once. */
export type Resumption = (identity: string) => SessionRecord | undefined;

/** By id, or the one of the identity that was active last; an id that is unknown is an error at once. */
export function chooseResumption(
  wanted: string | boolean | undefined,
  registry: Registry,
  identity: string,
  log: Log,
): Resumption {
  if (wanted === undefined || wanted === false) return () => undefined;
  const ended = registry.list().filter(({ backend_id }) => backend_id !== null);
  let chosen =
    typeof wanted === 'string'
      ? ended.find(({ agent_id }) => agent_id === wanted)
      : ended
          .filter((record) => record.identity === identity)
          .toSorted((a, b) => b.last_active.localeCompare(a.last_active))[0];
  if (chosen === undefined && typeof wanted === 'string')
    throw proxyError('SESSION_NOT_FOUND', `There is no session '${wanted}' to resume`, { agent_id: wanted });
  if (chosen === undefined) log('warn', 'there is no session to resume', { identity });
  return (asked) => {
    if (chosen?.identity !== asked) return undefined;
    const record = chosen;
    chosen = undefined;
    return record;
  };
}
