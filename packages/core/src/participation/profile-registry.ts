import type { Profile } from '@parley/protocol';

/** The clients and models an operator has listed; others are allowed and remarked upon once. */
export interface ProfileRegistry {
  warn(profile: Profile): void;
}

/** A registry from two lists of keys; without a list nothing is unknown. */
export function createProfileRegistry(
  known: { clients: readonly string[]; models: readonly string[] } | undefined,
  remark: (message: string) => void,
): ProfileRegistry {
  const reported = new Set<string>();
  const check = (what: string, list: readonly string[], key: string | undefined): void => {
    if (key === undefined || list.includes(key) || reported.has(`${what} ${key}`) || reported.size > 1_000)
      return;
    reported.add(`${what} ${key}`);
    remark(`${what} ${key} is not in the registry file`);
  };
  return {
    warn({ client, model }) {
      if (known === undefined) return;
      check('client', known.clients, client);
      check('model', known.models, model);
    },
  };
}
