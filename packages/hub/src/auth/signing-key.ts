/** The file of a data folder with the hub's keys and revocations. */
export const KEY_FILE = 'auth.json';

/** The hub's own signing key is replaced at this age (58 days), so that its tokens never outlive it. */
const ROTATE_KEY_AGE_MS = 58 * 86_400_000;

/** As much of a key as tells whether the hub signs with it. */
interface OwnKey {
  created_at: string;
  retired_at?: string | undefined;
  private?: Record<string, unknown> | undefined;
}

/** The newest key that the hub may sign with at this time. */
export function findSigningKey<K extends OwnKey>(keys: readonly K[], now: number): K | undefined {
  return keys.findLast(
    (key) =>
      key.private !== undefined &&
      key.retired_at === undefined &&
      // A key from the future was made under a wrong clock: it would outlive its age.
      Math.abs(now - Date.parse(key.created_at)) < ROTATE_KEY_AGE_MS,
  );
}
