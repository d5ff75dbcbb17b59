import { KEY_FILE, MAX_KEY_AGE_MS, parseKeyFile, WARN_KEY_AGE_MS } from '../../../auth/key-file.ts';
import type { Check } from './check.ts';

const DAY_MS = 86_400_000;

/** Each key with its age; one near its end needs a successor, and so it is not well. */
export function checkKeys(text: string | undefined, now: number): Check[] {
  if (text === undefined) return [{ name: 'keys', ok: true, detail: 'none yet; the first start makes one' }];
  let keys;
  try {
    ({ keys } = parseKeyFile(text));
  } catch {
    return [
      {
        name: 'keys',
        ok: false,
        detail: `${KEY_FILE} cannot be read as a key file; restore it from a backup`,
      },
    ];
  }
  const used = keys.filter((key) => key.retired_at === undefined);
  return used.map((key) => {
    const age = now - Date.parse(key.created_at);
    const days = `${Math.floor(age / DAY_MS)} days old`;
    const kind = key.private === undefined ? 'registered' : 'own';
    const superseded =
      key.private !== undefined && key !== used.findLast((other) => other.private !== undefined);
    if (age > MAX_KEY_AGE_MS && superseded)
      return {
        name: 'key',
        ok: true,
        detail: `${key.kid} (${kind}) ${days}, refused; a newer one is in use`,
      };
    if (age > MAX_KEY_AGE_MS)
      return {
        name: 'key',
        ok: false,
        detail: `${key.kid} (${kind}) ${days}, refused since day 90: parley key add`,
      };
    if (age > WARN_KEY_AGE_MS && !superseded)
      return {
        name: 'key',
        ok: false,
        detail: `${key.kid} (${kind}) ${days}, refused from day 90 on: parley key add`,
      };
    return { name: 'key', ok: true, detail: `${key.kid} (${kind}) ${days}` };
  });
}
