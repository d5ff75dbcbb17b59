import type { Mail, MailDesk, Watch } from '@parley/mail';

import type { TeamNames } from '../identity/team-names.ts';
import type { Log } from '../logger.ts';
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
}

/** Brings mail to the sessions: at once when it arrives, after a turn when it came during one. */
export interface Courier {
  attach(session: Addressee): void;
  detach(agentId: string): void;
  /** The next turn's worth of unread mail, the urgent first; undefined when there is none. */
  next(session: Addressee): Promise<MailTurn | undefined>;
  /** The turn has been written to the child and its request is on record: its mail counts as read. False if it cannot. */
  sent(session: Addressee, ids: readonly string[]): Promise<boolean>;
  /** A turn is over; mail that came meanwhile is brought, and what could not be brought is tried again later. */
  turnOver(session: Addressee, wasBrought: boolean): void;
  counts(agentId: string): MailCounts;
  totals(): MailCounts;
}

const ORDER = { urgent: 0, normal: 1, low: 2 } as const;

/** Mail goes to the session that is bound to its addressee, and to nobody else. */
export function createCourier({ mail, names, settings, notify, log }: CourierDeps): Courier {
  const watches = new Map<string, Watch>();
  const retries = new Map<string, NodeJS.Timeout>();
  const countsByAgent = new Map<string, MailCounts>();
  const total = noCounts();

  const isWanted = (session: Addressee): boolean =>
    session.autoMail() ?? settings.per_thread_auto_mail[session.identity] ?? settings.auto_mail;

  const look = async (session: Addressee, isNews: boolean): Promise<void> => {
    const { identity, agentId } = session;
    try {
      const unread = await mail.pending(identity);
      if (unread === 0 || !watches.has(agentId)) return;
      await names.check(identity);
      if (isNews) notify(identity, agentId, unread);
      if (isWanted(session)) session.mailArrived();
    } catch (error) {
      log('warn', 'mail could not be looked for', { identity, error: (error as Error).message });
    }
  };

  const count = (agentId: string, add: (counts: MailCounts) => void): void => {
    const own = countsByAgent.get(agentId) ?? noCounts();
    countsByAgent.set(agentId, own);
    for (const counts of [own, total]) add(counts);
  };

  return {
    attach(session) {
      const { agentId, identity } = session;
      if (watches.has(agentId)) return;
      watches.set(
        agentId,
        mail.watch(identity, () => void look(session, true)),
      );
      void look(session, true);
    },
    detach(agentId) {
      watches.get(agentId)?.close();
      watches.delete(agentId);
      clearTimeout(retries.get(agentId));
      retries.delete(agentId);
      countsByAgent.delete(agentId);
    },
    async next({ identity }) {
      await names.check(identity);
      const unread = await mail.read(identity, { mark_read: false });
      const chosen = unread.toSorted((a, b) => rank(a) - rank(b)).slice(0, settings.max_mail_messages);
      return chosen.length === 0 ? undefined : mailTurn(chosen, settings.max_mail_message_length);
    },
    async sent({ identity, agentId }, ids) {
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
    counts: (agentId) => countsByAgent.get(agentId) ?? noCounts(),
    totals: () => total,
  };
}

function rank({ priority }: Mail): number {
  return ORDER[priority ?? 'normal'];
}

function noCounts(): MailCounts {
  return { delivered: 0, turns: 0, failed_turns: 0, last_delivered_at: null };
}
