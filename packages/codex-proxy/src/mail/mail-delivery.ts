import { errorText } from '@parley/protocol';
import type { Mail, TeamMail, Watch } from '@parley/mail';

import type { TeamNames } from '../identity/team-names.ts';
import type { Log } from '../logger.ts';
import { accountOf, type Hold, type MailBudget, type MailTally } from './mail-budget.ts';
import { mailTurn, type MailTurn, markOf } from './mail-envelope.ts';

/** What the delivery of mail needs to know of a session. */
export interface Addressee {
  readonly agentId: string;
  readonly identity: string;
  /** Its own word on automatic mail, where it has one. */
  autoMail(): boolean | undefined;
  /** What the marks of its mail are made with, for as long as there is the session. */
  mailKey(): string;
  /** What its mail has used up, as it was kept, and keeps it. */
  mailTally(): MailTally | undefined;
  keepMailTally(tally: MailTally | undefined): void;
  /** Asks for a turn as soon as nothing else is to be done; means nothing while there is no thread. */
  mailArrived(): void;
}

export interface MailDeliveryDeps {
  mail: Pick<TeamMail, 'read' | 'pending' | 'markRead' | 'watch'>;
  names: TeamNames;
  settings: {
    auto_mail: boolean;
    per_thread_auto_mail: Readonly<Record<string, boolean>>;
    max_mail_messages: number;
    max_mail_message_length: number;
    mail_poll_interval_ms: number;
  };
  budget: MailBudget;
  /** Mail of a session that starts no turns any more. */
  onHold: (session: Addressee, hold: Hold) => void;
  /** Tells the client that there is mail, where it listens. */
  notify: (identity: string, agentId: string, unread: number) => void;
  log: Log;
}

/** Which of these marks a thread holds. */
type FindMarks = (marks: readonly string[]) => Promise<ReadonlySet<string>>;

/** What became of the mail of a session. */
export interface MailCounts {
  delivered: number;
  turns: number;
  failed_turns: number;
  last_delivered_at: string | null;
  /** Unread mail that starts no turn until the client takes one. */
  held: number;
}

/** Brings mail to the sessions: at once when it arrives, after a turn when it came during one. */
export interface MailDelivery {
  attach(session: Addressee): void;
  detach(agentId: string): void;
  /**
   * Marks the unread mail that the thread has already, as `find` tells by the marks in Codex's own record. False when
   * it cannot be marked; until it is, bringing mail might be bringing it twice.
   */
  settle(session: Addressee, find: FindMarks): Promise<boolean>;
  /** The next turn's worth of unread mail, the urgent first; undefined when there is none. */
  next(session: Addressee): Promise<MailTurn | undefined>;
  /** Codex has the turn in its thread: its mail counts as read. False if it cannot. */
  taken(session: Addressee, turn: Pick<MailTurn, 'ids' | 'accounts'>): Promise<boolean>;
  /** A turn is over; mail that came meanwhile is brought, and what could not be brought is tried again later. */
  turnOver(session: Addressee, wasBrought: boolean): void;
  /** The client takes a turn in this session: what was held because of it is brought again. */
  rearm(session: Addressee): void;
  holds(): (Hold & { agent_id: string; identity: string })[];
  counts(agentId: string): MailCounts;
  totals(): MailCounts;
}

const ORDER = { urgent: 0, normal: 1, low: 2 } as const;

/** Mail goes to the session that is bound to its addressee, and to nobody else. */
export function createMailDelivery({
  mail,
  names,
  settings,
  budget,
  onHold,
  notify,
  log,
}: MailDeliveryDeps): MailDelivery {
  const watches = new Map<string, { session: Addressee; watch: Watch }>();
  const retries = new Map<string, NodeJS.Timeout>();
  const countsByAgent = new Map<string, MailCounts>();
  /** What Codex has, though it could not be marked. */
  const unmarkedByAgent = new Map<string, Set<string>>();
  const total = noCounts();

  const isWanted = (session: Addressee): boolean =>
    session.autoMail() ?? settings.per_thread_auto_mail[session.identity] ?? settings.auto_mail;

  /** A loop costs its budget once, however often the proxy is started anew. */
  const keep = (session: Addressee): void => session.keepMailTally(budget.tally(session.identity));

  /** The unread mail that may start a turn; of what may not, whoever should know is told. */
  const admitted = async (session: Addressee): Promise<Mail[]> => {
    const { identity } = session;
    const before = budget.holds(identity).length;
    const free = budget.admit(identity, await mail.read(identity, { mark_read: false }));
    const holds = budget.holds(identity);
    if (holds.length !== before) keep(session);
    for (const hold of holds) onHold(session, hold);
    return free;
  };

  const look = async (session: Addressee, isNews: boolean): Promise<void> => {
    const { identity, agentId } = session;
    try {
      const unread = await mail.pending(identity);
      if (!watches.has(agentId)) return;
      if (unread === 0) return void budget.admit(identity, []);
      await names.check(identity);
      if (isNews) notify(identity, agentId, unread);
      if (isWanted(session) && (!budget.isNarrow(identity) || (await admitted(session)).length > 0))
        session.mailArrived();
    } catch (error) {
      log('warn', 'mail could not be looked for', { identity, error: errorText(error) });
    }
  };

  const heldBy = (agentId: string): number =>
    budget
      .holds(watches.get(agentId)?.session.identity ?? '')
      .reduce((sum, { message_ids }) => sum + message_ids.length, 0);

  const count = (agentId: string, add: (counts: MailCounts) => void): void => {
    const own = countsByAgent.get(agentId) ?? noCounts();
    countsByAgent.set(agentId, own);
    for (const counts of [own, total]) add(counts);
  };

  const markRead = async ({ identity, agentId }: Addressee, ids: readonly string[]): Promise<boolean> => {
    try {
      await mail.markRead(identity, ids);
      unmarkedByAgent.delete(agentId);
      count(agentId, (counts) => {
        counts.turns += 1;
        counts.delivered += ids.length;
        counts.last_delivered_at = new Date().toISOString();
      });
      log('info', 'mail was delivered', { agent_id: agentId, identity, messages: ids.length });
      return true;
    } catch (error) {
      unmarkedByAgent.set(agentId, new Set([...(unmarkedByAgent.get(agentId) ?? []), ...ids]));
      log('error', 'delivered mail could not be marked as read; that is tried again', {
        agent_id: agentId,
        identity,
        error: errorText(error),
      });
      return false;
    }
  };

  return {
    attach(session) {
      const { agentId, identity } = session;
      if (watches.has(agentId)) return;
      const tally = session.mailTally();
      if (tally !== undefined) budget.restore(identity, tally);
      const watch = mail.watch(identity, () => void look(session, true));
      watches.set(agentId, { session, watch });
      void look(session, true);
    },
    detach(agentId) {
      const attached = watches.get(agentId);
      attached?.watch.close();
      if (attached !== undefined) budget.forget(attached.session.identity);
      watches.delete(agentId);
      clearTimeout(retries.get(agentId));
      retries.delete(agentId);
      countsByAgent.delete(agentId);
      unmarkedByAgent.delete(agentId);
    },
    async settle(session, find) {
      const { identity, agentId } = session;
      await names.check(identity);
      const unread = await mail.read(identity, { mark_read: false });
      const known = unread.filter(({ message_id }) => unmarkedByAgent.get(agentId)?.has(message_id));
      const mailByMark = new Map(
        unread.filter((one) => !known.includes(one)).map((one) => [markOf(session.mailKey(), one), one]),
      );
      const marks = mailByMark.size === 0 ? new Set<string>() : await find([...mailByMark.keys()]);
      const found = [...mailByMark].flatMap(([mark, one]) => (marks.has(mark) ? [one] : []));
      if (found.length > 0) {
        budget.spend(identity, [...new Set(found.map(accountOf))]);
        keep(session);
        log('warn', 'mail that its session has already was not marked as read', {
          agent_id: agentId,
          identity,
          messages: found.length,
        });
      }
      const ids = [...known, ...found].map(({ message_id }) => message_id);
      return ids.length === 0 || (await markRead(session, ids));
    },
    async next(session) {
      await names.check(session.identity);
      const chosen = (await admitted(session))
        .toSorted((a, b) => rank(a) - rank(b))
        .slice(0, settings.max_mail_messages);
      if (chosen.length === 0) return undefined;
      return mailTurn(chosen, settings.max_mail_message_length, session.mailKey());
    },
    async taken(session, { ids, accounts }) {
      budget.spend(session.identity, accounts);
      keep(session);
      return markRead(session, ids);
    },
    turnOver(session, wasBrought) {
      const { agentId } = session;
      if (wasBrought) {
        void look(session, false);
        return;
      }
      count(agentId, (counts) => (counts.failed_turns += 1));
      clearTimeout(retries.get(agentId));
      const timer = setTimeout(() => void look(session, false), settings.mail_poll_interval_ms);
      timer.unref();
      retries.set(agentId, timer);
    },
    rearm({ identity }) {
      const concerns = (target: string): boolean =>
        target === identity || (budget.tally(target)?.turns ?? []).some(({ by }) => by.includes(identity));
      const isLifted = (target: string): boolean =>
        budget.holds(target).some(({ from }) => from === identity);
      const attached = [...watches.values()].map(({ session }) => session);
      const lifted = attached.filter((session) => isLifted(session.identity));
      const changed = attached.filter((session) => concerns(session.identity) || lifted.includes(session));
      budget.rearm(identity);
      changed.forEach(keep);
      for (const session of lifted) void look(session, false);
    },
    holds: () =>
      [...watches.values()].flatMap(({ session: { agentId, identity } }) =>
        budget.holds(identity).map((hold) => ({ agent_id: agentId, identity, ...hold })),
      ),
    counts: (agentId) => ({ ...(countsByAgent.get(agentId) ?? noCounts()), held: heldBy(agentId) }),
    totals: () => ({
      ...total,
      held: [...watches.keys()].reduce((sum, agentId) => sum + heldBy(agentId), 0),
    }),
  };
}

function rank({ priority }: Mail): number {
  return ORDER[priority ?? 'normal'];
}

function noCounts(): MailCounts {
  return { delivered: 0, turns: 0, failed_turns: 0, last_delivered_at: null, held: 0 };
}
