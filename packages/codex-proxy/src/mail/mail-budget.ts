import type { Mail } from '@parley/mail';
import { showUnseenLine } from '@parley/protocol';

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

/** The guard against agents that answer each other for ever. Targets are identities. */
export interface MailBudget {
  /** False while no mail to the target could be over the limits. */
  isNarrow(target: string): boolean;
  /** What may start a turn now; all else is held from here on. */
  admit(target: string, unread: readonly Mail[]): Mail[];
  /** Mail of these senders has started a turn. */
  spend(target: string, senders: readonly string[]): void;
  /** The client has seen to this identity: what it gets and what it sends counts anew. */
  rearm(identity: string): void;
  holds(target: string): Hold[];
  forget(target: string): void;
}

interface Tally {
  turns: { by: readonly string[]; at: number }[];
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
        const hold = holdFor(tally, senderOf(mail));
        hold?.message_ids.push(mail.message_id);
        return hold === undefined;
      });
    },
    spend(target, senders) {
      tallyOf(target).turns.push({ by: senders, at: now().getTime() });
    },
    rearm(identity) {
      tallies.delete(identity);
      for (const tally of tallies.values()) {
        tally.turns = tally.turns.filter(({ by }) => !by.includes(identity));
        tally.holds = tally.holds.filter(({ from }) => from !== identity);
      }
    },
    holds: (target) => tallies.get(target)?.holds ?? [],
    forget: (target) => void tallies.delete(target),
  };
}

/** Who wrote a mail, as one is told apart from others, with nothing hidden in it. */
export function senderOf({ from, source_team }: Pick<Mail, 'from' | 'source_team'>): string {
  return showUnseenLine(source_team === undefined ? from : `${from}@${source_team}`);
}
