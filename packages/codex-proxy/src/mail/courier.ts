import type { Mail, MailDesk, Watch } from '@parley/mail';

import type { TeamNames } from '../identity/team-names.ts';
import type { Log } from '../logger.ts';
import type { Hold, MailBudget } from './mail-budget.ts';
import { mailTurn, type MailTurn } from './mail-envelope.ts';

/** What the courier needs to know of a session. */
export interface Addressee {
  readonly agentId: string;
  readonly identity: string;
  /** Its own word on automatic mail, where it has one. */
  autoMail(): boolean | undefined;
  /** Asks for a turn as soon as nothing else is to be done; means nothing while there is no thread. */
  mailArrived(): void;
}

export interface CourierDeps {
  mail: Pick<MailDesk, 'read' | 'pending' | 'markRead' | 'watch'>;
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
export interface Courier {
  attach(session: Addressee): void;
  detach(agentId: string): void;
  /** The next turn's worth of unread mail, the urgent first; undefined when there is none. */
  next(session: Addressee): Promise<MailTurn | undefined>;
  /** The turn has been written to the child and its request is on record: its mail counts as read. False if it cannot. */
  sent(session: Addressee, turn: Pick<MailTurn, 'ids' | 'senders'>): Promise<boolean>;
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
export function createCourier({ mail, names, settings, budget, onHold, notify, log }: CourierDeps): Courier {
  const watches = new Map<string, { session: Addressee; watch: Watch }>();
  const retries = new Map<string, NodeJS.Timeout>();
  const countsByAgent = new Map<string, MailCounts>();
  const total = noCounts();

  const isWanted = (session: Addressee): boolean =>
    session.autoMail() ?? settings.per_thread_auto_mail[session.identity] ?? settings.auto_mail;

  /** The unread mail that may start a turn; of what may not, whoever should know is told. */
  const admitted = async (session: Addressee): Promise<Mail[]> => {
    const free = budget.admit(session.identity, await mail.read(session.identity, { mark_read: false }));
    for (const hold of budget.holds(session.identity)) onHold(session, hold);
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
      log('warn', 'mail could not be looked for', { identity, error: (error as Error).message });
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

  return {
    attach(session) {
      const { agentId, identity } = session;
      if (watches.has(agentId)) return;
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
    },
    async next(session) {
      await names.check(session.identity);
      const chosen = (await admitted(session))
        .toSorted((a, b) => rank(a) - rank(b))
        .slice(0, settings.max_mail_messages);
      return chosen.length === 0 ? undefined : mailTurn(chosen, settings.max_mail_message_length);
    },
    async sent({ identity, agentId }, { ids, senders }) {
      budget.spend(identity, senders);
      try {
        await mail.markRead(identity, ids);
        count(agentId, (counts) => {
          counts.turns += 1;
          counts.delivered += ids.length;
          counts.last_delivered_at = new Date().toISOString();
        });
        log('info', 'mail was delivered', { agent_id: agentId, identity, messages: ids.length });
        return true;
      } catch (error) {
        log('error', 'delivered mail could not be marked as read and will come again', {
          agent_id: agentId,
          identity,
          error: (error as Error).message,
        });
        return false;
      }
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
      const isLifted = ({ session }: { session: Addressee }): boolean =>
        budget.holds(session.identity).some(({ from }) => from === identity);
      const lifted = [...watches.values()].filter(isLifted);
      budget.rearm(identity);
      for (const { session } of lifted) void look(session, false);
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
