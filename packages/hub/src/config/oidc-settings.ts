import { AgentName, Name, Role } from '@parley/protocol';
import * as z from 'zod';

import { group, ms, origin, whole } from './setting-kinds.ts';

/** What of an issuer's claims lets somebody in, where and as what. */
const match = {
  claim: z.string().min(1).max(256).describe('claim that is looked at; dots lead into objects'),
  value: z
    .string()
    .min(1)
    .max(256)
    .optional()
    .describe('what it must be, or hold when it is a list; left out: anything'),
  workspaces: z.array(Name).min(1).max(100),
  name: AgentName.optional().describe('the name inside; left out: by name_claim'),
};

const PeopleRule = z.strictObject({
  ...match,
  role: Role.default('operator'),
  read_only: z.boolean().default(false),
});

const AgentRule = z.strictObject({ ...match, role: Role.default('worker') });

/** One line of the mapping, of people or of agents. */
export type OidcRule = z.output<typeof AgentRule> & { read_only?: boolean };

/** An issuer at which people sign in, and whose access tokens agents bring. */
export const OIDC = group({
  issuer: z
    .string()
    .default('')
    .refine((url) => url === '' || isIssuer(url), {
      error: 'must be an https URL without a question in it; http only for a loopback address',
    })
    .describe('OpenID Connect issuer at which people sign in; empty: none, and no accounts'),
  client_id: z
    .string()
    .max(256)
    .default('')
    .describe(
      'name of this hub at the issuer; empty: people do not sign in there, agents may bring its tokens',
    ),
  client_secret_env: z
    .string()
    .default('')
    .describe('environment variable that holds the client secret; neither: a public client'),
  client_secret_file: z.string().default('').describe('file that holds the client secret'),
  base_url: origin(
    'where browsers and agents reach this hub; the issuer sends people back to <base_url>/session/return; empty: as http.base_url says',
  ),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { error: 'must be a scope' }))
    .default(['openid', 'profile', 'email'])
    .describe('what the hub asks the issuer for when a person signs in'),
  name_claim: z
    .string()
    .min(1)
    .default('preferred_username')
    .describe('claim that names the person; email counts only where it is verified'),
  agent_name: z
    .string()
    .regex(/^[^{}]*\{name\}[^{}]*$/, { error: 'must hold {name} once' })
    .default('{name}-agent')
    .describe('what an agent that comes with a token of a person is called'),
  people: z
    .array(PeopleRule)
    .default([])
    .describe(
      'who may sign in: `claim`, `value`, `workspaces`, `role`, `read_only`, `name`; see docs/people.md',
    ),
  agents: z
    .array(AgentRule)
    .default([])
    .describe('whose access tokens are taken: `claim`, `value`, `workspaces`, `role`, `name`'),
  audience: z
    .string()
    .default('')
    .describe('aud of access tokens for this hub; empty: <base_url>/mcp, as its metadata says'),
  agent_scopes: z
    .array(z.string().min(1))
    .default([])
    .describe('scopes that the metadata tells MCP clients to ask for'),
  algorithms: z
    .array(z.enum(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']))
    .min(1)
    .default(['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'])
    .describe('how the issuer may sign'),
  session_ms: ms(43_200_000, 'how long a person stays signed in before the issuer is asked again'),
  timeout_ms: ms(10_000, 'how long the issuer may take to answer'),
  key_cooldown_ms: whole(
    30_000,
    0,
    'shortest time between two looks at the keys of the issuer, in milliseconds',
  ),
});

export type OidcSettings = z.output<typeof OIDC>;

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if (`${username}${password}${search}${hash}` !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** True for an address that leaves this machine on no wire. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
