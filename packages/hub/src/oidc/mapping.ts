import type { PersonPlace } from '@parley/core';
import { AgentName } from '@parley/protocol';

import type { OidcRule } from '../config/oidc-settings.ts';

/** Claims of an issuer whose signature was verified. */
export type IssuerClaims = Readonly<Record<string, unknown>>;

/** Who somebody is inside, and where. */
export interface Mapped {
  name: string;
  /** True when the configuration itself says the name. */
  named: boolean;
  places: readonly [PersonPlace, ...PersonPlace[]];
}

/** Why the claims of somebody give them no place here. */
export type Unmapped = 'nobody' | 'nameless';

/** Reads a person or an agent out of an issuer's claims; of rules for one workspace the first that matches counts. */
export function mapClaims(
  claims: IssuerClaims,
  rules: readonly OidcRule[],
  nameOf: (claims: IssuerClaims) => string | undefined,
): Mapped | Unmapped {
  const matching = rules.filter((rule) => matches(claims, rule));
  const places = new Map<string, PersonPlace>();
  for (const { workspaces, role, read_only = false } of matching)
    for (const workspace_id of workspaces)
      if (!places.has(workspace_id)) places.set(workspace_id, { workspace_id, role, read_only });
  const [first, ...others] = places.values();
  if (first === undefined) return 'nobody';
  const given = matching.find((rule) => rule.name !== undefined)?.name;
  const name = AgentName.safeParse(given ?? nameOf(claims)).data;
  return name === undefined ? 'nameless' : { name, named: given !== undefined, places: [first, ...others] };
}

/** The text of a claim that names somebody. */
export function claimText(claims: IssuerClaims, name: string): string | undefined {
  const value = valueOf(claims, name);
  return typeof value === 'string' ? value : undefined;
}

function matches(claims: IssuerClaims, { claim, value: wanted }: OidcRule): boolean {
  const value = valueOf(claims, claim);
  if (value === undefined || value === null || value === false || value === '') return false;
  if (wanted === undefined) return true;
  // Scopes come as one text with blanks between them.
  if (claim === 'scope' && typeof value === 'string') return value.split(' ').includes(wanted);
  return [value].flat().some((one) => isPlain(one) && String(one) === wanted);
}

/** True for what is written in one way only; an object may call itself anything. */
function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

/** A claim by its name, or by the way to it through objects; an address that nobody has verified is none. */
function valueOf(claims: IssuerClaims, name: string): unknown {
  if (name === 'email' && claims['email_verified'] !== true) return undefined;
  if (Object.hasOwn(claims, name)) return claims[name];
  let at: unknown = claims;
  for (const part of name.split('.')) {
    if (at === null || typeof at !== 'object' || !Object.hasOwn(at, part)) return undefined;
    // Looked at just above: it has fields.
    at = (at as IssuerClaims)[part];
  }
  return at;
}
