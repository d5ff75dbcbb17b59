import type { Mail } from '@parley/mail';
import { hideSecrets, showUnseenLine } from '@parley/protocol';
import * as z from 'zod';

/** How many turns mail may start within an hour while the client starts none. */
export interface MailLimits {
  /** By mail of one sender to one session. */
  mail_turns_per_pair: number;
  /** By all mail to one session. */
  mail_turns_per_target: number;
}

/** Mail that starts no turns any more, until the client's next turn. */
export interface Hold {
  /** The sender; null when it is all mail to that session. */
  from: string | null;
  reason: 'pair' | 'target';
  limit: number;
  since: string;
  message_ids: string[];
}

/** What a target's mail has used up, as its session keeps it over a new start of the proxy. */
export const MailTally = z.object({
  turns: z.array(z.object({ by: z.array(z.string()), at: z.number() })),
  holds: z.array(
    z.object({
      from: z.string().nullable(),
      reason: z.enum(['pair', 'target']),
      limit: z.number(),
      since: z.string(),
    }),
  ),
});
export type MailTally = z.output<typeof MailTally>;

/** The guard against agents that answer each other for ever. Targets are identities. */
export interface MailBudget {
  /** False while no mail to the target could be over the limits. */
  isNarrow(target: string): boolean;
  /** What may start a turn now; all else is held from here on. */
  admit(target: string, unread: readonly Mail[]): Mail[];
  /** Mail on these accounts has started a turn. */
  spend(target: string, accounts: readonly string[]): void;
  /** The client has seen to this identity: what it gets and what it sends counts anew. */
  rearm(identity: string): void;
  holds(target: string): Hold[];
  /** Where the target stands; undefined when nothing counts against it. */
  tally(target: string): MailTally | undefined;
  /** Takes up where a session stood; what was held by a lower limit than today's is held no more. */
  restore(target: string, tally: MailTally): void;
  forget(target: string): void;
}

interface Tally {
  turns: MailTally['turns'];
  holds: Hold[];
}

const HOUR_MS = 3_600_000;

/** What was stopped stays stopped until the client takes a turn, so that a loop costs its budget once and not every hour. */
export function createMailBudget(
  { mail_turns_per_pair: ofPair, mail_turns_per_target: ofTarget }: MailLimits,
  now: () => Date,
): MailBudget {
  const tallies = new Map<string, Tally>();

  const tallyOf = (target: string): Tally => {
    const found = tallies.get(target) ?? { turns: [], holds: [] };
    const time = now().getTime();
    // After a jump of the clock backwards nothing counts for longer than an hour.
    found.turns = found.turns
      .map(({ by, at }) => ({ by, at: Math.min(at, time) }))
      .filter(({ at }) => at > time - HOUR_MS);
    tallies.set(target, found);
    return found;
  };

  const holdFor = (tally: Tally, from: string): Hold | undefined => {
    const standing = tally.holds.find((hold) => hold.from === null || hold.from === from);
    if (standing !== undefined) return standing;
    const isFull = tally.turns.length >= ofTarget;
    if (!isFull && tally.turns.filter(({ by }) => by.includes(from)).length < ofPair) return undefined;
    const since = now().toISOString();
    const hold: Hold = isFull
      ? { from: null, reason: 'target', limit: ofTarget, since, message_ids: [] }
      : { from, reason: 'pair', limit: ofPair, since, message_ids: [] };
    tally.holds.push(hold);
    return hold;
  };

  return {
    isNarrow(target) {
      const { turns, holds } = tallyOf(target);
      return holds.length > 0 || turns.length >= Math.min(ofPair, ofTarget);
    },
    admit(target, unread) {
      const tally = tallyOf(target);
      for (const hold of tally.holds) hold.message_ids = [];
      return unread.filter((mail) => {
        const hold = holdFor(tally, accountOf(mail));
        hold?.message_ids.push(mail.message_id);
        return hold === undefined;
      });
    },
    spend(target, accounts) {
      tallyOf(target).turns.push({ by: [...accounts], at: now().getTime() });
    },
    rearm(identity) {
      tallies.delete(identity);
      for (const tally of tallies.values()) {
        tally.turns = tally.turns.filter(({ by }) => !by.includes(identity));
        tally.holds = tally.holds.filter(({ from }) => from !== identity);
      }
    },
    holds: (target) => tallies.get(target)?.holds ?? [],
    tally(target) {
      const { turns, holds } = tallyOf(target);
      if (turns.length === 0 && holds.length === 0) return undefined;
      return { turns: [...turns], holds: holds.map(({ message_ids: _ids, ...hold }) => hold) };
    },
    restore(target, { turns, holds }) {
      const limits = { pair: ofPair, target: ofTarget };
      const standing = holds.filter(({ reason, limit }) => limit >= limits[reason]);
      tallies.set(target, {
        turns: [...turns],
        holds: standing.map((hold) => ({ ...hold, message_ids: [] })),
      });
    },
    forget: (target) => void tallies.delete(target),
  };
}

/** Who wrote a mail, as one is told apart from others, with nothing hidden in it. */
export function senderOf({ from, source_team }: Pick<Mail, 'from' | 'source_team'>): string {
  return showUnseenLine(source_team === undefined ? from : `${from}@${source_team}`);
}

/** The name under which a sender's mail is counted: it is kept, and so holds no secret. */
export function accountOf(mail: Pick<Mail, 'from' | 'source_team'>): string {
  return hideSecrets(senderOf(mail));
}
