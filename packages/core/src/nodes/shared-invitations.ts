import type { Invitation, Invitations } from '../devices/invitations.ts';
import type { Nodes } from './nodes.ts';

const REDEEM = 'invitation.redeem';
const ISSUED = 'invitation.issued';

/** Invitations stay where they were issued; a word that is not known here is asked for there, where it is good once. */
export function shareInvitations(here: Invitations, { calls }: Nodes): Invitations {
  // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
  calls.answer(REDEEM, async (body) => (await here.redeem(body as string)) ?? null);
  // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
  calls.answer(ISSUED, (body) => here.issued(...(body as [Invited, string])) ?? null);
  return {
    ...here,
    async issue(person, lifetimeMs, once) {
      if (once !== undefined && here.issued(person, once) === undefined)
        for (const { answer } of await calls.askAll(ISSUED, [person, once]))
          // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
          if (answer !== null) return answer as Invitation;
      return here.issue(person, lifetimeMs, once);
    },
    async redeem(word) {
      const own = await here.redeem(word);
      if (own !== undefined) return own;
      const answers = await calls.askAll(REDEEM, word);
      return (
        // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
        answers.map(({ answer }) => answer as Invitation | null).find((one) => one !== null) ?? undefined
      );
    },
  };
}

type Invited = Pick<Invitation, 'agent_id' | 'workspace_id'>;
