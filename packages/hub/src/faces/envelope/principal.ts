import { type Caller, ENVELOPE_ROLES, type EnvelopeRole, ROLE_ALIASES } from '@parley/protocol';

import { EnvelopeRefusal } from './refusal.ts';

/** The envelope's name of each role of the hub, and back. */
const ENVELOPE_ROLE = {
  operator: 'owner',
  orchestrator: 'editor',
  worker: 'agent',
  observer: 'viewer',
} as const satisfies Record<Caller['role'], EnvelopeRole>;
const HUB_ROLE = {
  owner: 'operator',
  editor: 'orchestrator',
  agent: 'worker',
  viewer: 'observer',
} as const satisfies Record<EnvelopeRole, Caller['role']>;

/** An old name of a role that was used. */
export interface Alias {
  alias: string;
  role: EnvelopeRole;
}

/** The mightiest of the roles that an envelope names and its sender has; a name alone gives nobody a right. */
export function actAs(caller: Caller, roles: readonly string[]): { role: Caller['role']; aliases: Alias[] } {
  const most = ENVELOPE_ROLES.indexOf(ENVELOPE_ROLE[caller.role]);
  const aliases = roles.flatMap((name): Alias[] => {
    const role = Object.hasOwn(ROLE_ALIASES, name)
      ? // It is one of the table, as was looked just now.
        ROLE_ALIASES[name as keyof typeof ROLE_ALIASES]
      : undefined;
    return role === undefined ? [] : [{ alias: name, role }];
  });
  const named = [...roles, ...aliases.map(({ role }) => role)];
  const role = ENVELOPE_ROLES.slice(most).find((candidate) => named.includes(candidate));
  if (role === undefined)
    throw new EnvelopeRefusal('FORBIDDEN', 'principal.roles: none of these is yours', {
      hint: `your token is for the role ${ENVELOPE_ROLE[caller.role]}`,
    });
  return { role: HUB_ROLE[role], aliases };
}
