import { type Sql, sql } from './sql.ts';

/** Which workspaces a question may see, by the wall that the database itself holds. */
export type Scope = readonly string[] | typeof EVERY_WORKSPACE;

/** For what the hub does of itself and for whoever looks at the whole record; no call of a tenant asks so. */
export const EVERY_WORKSPACE = 'every workspace';

/** Tells the database which workspaces may be seen: until the transaction ends, or by this connection until it is told otherwise. */
export function settingOf(scope: Scope, until: 'transaction' | 'further notice'): Sql {
  const isLocal = until === 'transaction';
  const [names, every] = scope === EVERY_WORKSPACE ? [[], 'on'] : [scope, 'off'];
  return sql`SELECT set_config('parley.workspaces', ${[...names]}::text[]::text, ${isLocal}),
    set_config('parley.every_workspace', ${every}, ${isLocal})`;
}
