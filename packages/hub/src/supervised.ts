/**
 * What `PARLEY_SUPERVISED` says to what is started: a supervisor has the session at a terminal, or without one, where it
 * also tells what each turn used.
 */
export const SUPERVISED = { terminal: '1', managed: 'managed' } as const;

type Env = Readonly<Record<string, string | undefined>>;

/** A supervisor takes the wakes of this session. */
export function isSupervised(env: Env): boolean {
  return env['PARLEY_SUPERVISED'] !== undefined;
}

/** Its driver tells what it used. */
export function isManaged(env: Env): boolean {
  return env['PARLEY_SUPERVISED'] === SUPERVISED.managed;
}
