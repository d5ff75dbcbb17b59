import type { Chance, Clock } from '../clock.ts';
import type { Grant } from './grant.ts';

/** For whom a device may sign in, and how far it may go. */
export interface Invitation {
  agent_id: string;
  workspace_id: string;
  name: string | undefined;
  read_only: boolean;
  /** What the device will end with. */
  grant: Grant;
  /** To be typed. */
  code: string;
  /** To be followed, as the end of a link. */
  key: string;
  /** Wall-clock milliseconds. */
  until: number;
}

/** Invitations to sign in, in memory only: each is good once, by its code or by its key, and soon over. */
export interface Invitations {
  /** The same `once` by the same person gives the same invitation while it is good. */
  issue(
    person: Pick<Invitation, 'agent_id' | 'workspace_id' | 'name' | 'read_only' | 'grant'>,
    lifetimeMs: number,
    once?: string,
  ): Promise<Invitation>;
  /** What this person was given for this `once`, while it is good. */
  issued(person: Pick<Invitation, 'agent_id' | 'workspace_id'>, once: string): Invitation | undefined;
  /** The invitation behind a code or a key, which is thereby used up. */
  redeem(word: string): Promise<Invitation | undefined>;
}

/** Neither vowels, so that no words arise, nor what is easily mistaken for something else. */
const LETTERS = 'BCDFGHJKMNPQRSTVWXZ23456789';
const CODE_LENGTH = 8;
const MAX_INVITATIONS = 1_000;
/** Of one person; of more the oldest is no longer good. */
const MAX_EACH = 20;

/** The invitations of one process; clocks that are set back make none live longer. */
export function createInvitations(clock: Pick<Clock, 'now' | 'monotonic'>, chance: Chance): Invitations {
  const held = new Map<string, { invitation: Invitation; once: string; ends: number }>();

  function sweep(): void {
    const now = clock.monotonic();
    for (const [word, { ends }] of held) if (ends <= now) held.delete(word);
  }

  function issued(
    person: Pick<Invitation, 'agent_id' | 'workspace_id'>,
    once: string,
  ): Invitation | undefined {
    sweep();
    const name = onceName(person, once);
    return [...held.values()].find((one) => one.once === name)?.invitation;
  }

  return {
    issued,
    async issue(person, lifetimeMs, once) {
      sweep();
      const known = once === undefined ? undefined : issued(person, once);
      if (known !== undefined) return known;
      const name = once === undefined ? '' : onceName(person, once);
      const own = [...held].filter(
        ([, { invitation }]) =>
          invitation.workspace_id === person.workspace_id && invitation.agent_id === person.agent_id,
      );
      const oldest = own.length >= MAX_EACH ? own[0]?.[0] : held.keys().next().value;
      if (own.length >= MAX_EACH || held.size >= MAX_INVITATIONS) held.delete(oldest ?? '');
      const letters = Array.from({ length: CODE_LENGTH }, () => LETTERS[chance.below(LETTERS.length)]);
      const key = Buffer.from(chance.bytes(32)).toString('base64url');
      const code = `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`;
      const invitation: Invitation = { ...person, code, key, until: clock.now() + lifetimeMs };
      held.set(key, { invitation, once: name, ends: clock.monotonic() + lifetimeMs });
      return invitation;
    },
    async redeem(word) {
      sweep();
      const typed = word.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
      const found = [...held.values()].find(
        ({ invitation }) =>
          invitation.key === word ||
          (typed.length === CODE_LENGTH && invitation.code.replace('-', '') === typed),
      )?.invitation;
      if (found !== undefined) held.delete(found.key);
      return found;
    },
  };
}

function onceName(
  { workspace_id, agent_id }: Pick<Invitation, 'agent_id' | 'workspace_id'>,
  once: string,
): string {
  return JSON.stringify([workspace_id, agent_id, once]);
}
