import { type Caller, HUB_NAME } from '@parley/protocol';

import type { SessionName } from '../agents/ports.ts';
import { isSealed, type Sealed, type Trouble } from './command-port.ts';
import type { Link } from './link.ts';
import type { LiveEvent, LiveStatus, LiveUpdate, Updates } from './live-update.ts';
import type { OtherNodes } from './other-nodes.ts';
import type { Questions } from './questions.ts';
import type { Registry } from './registry.ts';
import { sessionOf } from './remote-link.ts';
import type { Roster } from './roster.ts';
import type { Statuses } from './statuses.ts';

/** What agents tell without being asked: kept where it can be read, shown to whom it is for. */
export interface Telling {
  /** `answers` names the request it answers; without one of that name it answers all that ask how the agent is. */
  status(
    caller: Caller,
    status: LiveStatus | Sealed,
    about: { to: string | undefined; answers: string; key: string },
  ): Promise<void>;
  event(
    caller: Caller,
    event: LiveEvent | Sealed,
    about: { to: string | undefined; key: string },
  ): Promise<void>;
  error(caller: Caller, error: Trouble | Sealed, to: string | undefined): Promise<void>;
  /** Ends the status questions that a status answers at this node; gives the sessions that had asked. */
  settle(
    agent: Pick<Caller, 'workspace_id' | 'agent_id'>,
    answers: string,
    status: LiveStatus | Sealed,
  ): SessionName[];
}

export function createTelling(deps: {
  roster: Roster;
  questions: Questions;
  registry: Registry;
  statuses: Statuses;
  updates: Updates;
  /** Who is meant by a name. */
  resolve: (caller: Caller, name: string) => Promise<string>;
  others: () => Pick<OtherNodes, 'show' | 'settle'> | undefined;
}): Telling {
  const { roster, questions, registry, statuses, updates, resolve, others } = deps;

  const settle: Telling['settle'] = ({ workspace_id, agent_id: by }, answers, status) => {
    const open = questions.open(workspace_id, by, 'status_request');
    const meant = open.filter(({ asking }) => asking.id === answers);
    return (meant.length > 0 ? meant : open).map((question) => {
      questions.drop(question);
      question.end({ outcome: 'answered', by, status });
      return sessionOf(question.asker);
    });
  };

  /** To the one connection of the one who is meant, which then has it; to nobody when it is not there or has it. */
  async function passOn(
    caller: Caller,
    update: LiveUpdate,
    has = new Set<Link | undefined>(),
  ): Promise<void> {
    if (update.to === undefined || update.to === HUB_NAME) return;
    const link = roster.current(caller.workspace_id, await resolve(caller, update.to));
    if (link === undefined || link.full || has.has(link)) return;
    has.add(link);
    link.send(update);
  }

  return {
    settle,
    async status(caller, status, { to, answers, key }) {
      if (!isSealed(status)) await statuses.keep(caller, status, key);
      const { workspace_id, agent_id: by } = caller;
      const seen = isSealed(status) ? status : statuses.seen(status);
      const about = { agent: { workspace_id, agent_id: by }, id: answers, status: seen };
      const settled = [...settle(caller, answers, seen), ...((await others()?.settle(about)) ?? [])];
      const has = new Set([caller, ...settled].map((session) => roster.session(session)));
      const update = updates.make('status', by, to, { body: seen });
      // Whoever has asked is answered, over whichever of its connections; it is not told the same again.
      if (!settled.some(({ agent_id }) => agent_id === to)) await passOn(caller, update, has);
      const answered = { id: answers, status: seen };
      if (isSealed(status) && to !== undefined) {
        others()?.show({ workspace_id, update, except: [], answers: answered, unseen: true });
        return;
      }
      const watching = to !== undefined;
      await statuses.publish(workspace_id, update, { except: has, watching, answers: answered });
    },
    async event(caller, event, { to, key }) {
      if (!isSealed(event)) await registry.reportEvent(caller, event, key);
      const update = updates.make('event', caller.agent_id, to, { body: event });
      if (to !== undefined) return passOn(caller, update);
      const threadId = isSealed(event) ? undefined : event.thread_id;
      const except = new Set([roster.session(caller)]);
      await statuses.publish(caller.workspace_id, update, { except, threadId });
    },
    async error(caller, error, to) {
      const update = updates.make('error', caller.agent_id, to, { body: error });
      if (to !== undefined) return passOn(caller, update);
      const except = new Set([roster.session(caller)]);
      await statuses.publish(caller.workspace_id, update, { except });
    },
  };
}
