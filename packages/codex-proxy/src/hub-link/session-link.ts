import type { ApprovalRequest, CodexEvent } from '@parley/runtimes';

import type { Log } from '../logger.ts';
import type { EndedTurn, OpenSession, OtherAnswer, StartedTurn } from '../onlooker.ts';
import { type Agent, connectAgent } from './connect-agent.ts';
import {
  describeEnd,
  describeEvent,
  describeStart,
  failureOf,
  type Report,
  reporting,
} from './describe-event.ts';
import { AccessRefused, type HubAccess } from './hub-access.ts';
import { createOutbox, type Delivery } from './outbox.ts';
import { aborted, putAsk } from './put-ask.ts';
import { type Judge, retry } from './retry.ts';
import { commandsOf } from './session-commands.ts';

export interface SessionLinkDeps {
  access: HubAccess;
  /** How long an approval may wait for its answer. */
  askMs: number;
  log: Log;
  /** Hears that the hub is there or not, and why not. */
  onHub: (state: 'linked' | 'away', reason: string) => void;
}

/** One session as an agent of the hub: its state, its events, its asks and the commands it takes. */
export interface SessionLink {
  turnStarted(turn: StartedTurn): void;
  turnEnded(turn: EndedTurn): void;
  event(event: CodexEvent): void;
  asked(request: ApprovalRequest, signal: AbortSignal): OtherAnswer;
  failed(reason: string): void;
  /** Says the rest if the hub is there, and takes leave; settles in any case. */
  close(): Promise<void>;
}

/** Links a session in the background, once its predecessor of the same name has taken leave. */
export function openSessionLink(
  { access, askMs, log, onHub }: SessionLinkDeps,
  session: OpenSession,
  predecessor: Promise<void>,
): SessionLink {
  const { agentId, identity } = session;
  const closing = new AbortController();
  let task: string | undefined;
  let failure: string | undefined;
  /** Questions that are not settled yet, and those that the hub may yet have to hear of. */
  let open = 0;
  let asking = 0;
  let saidStatus = '';
  let connected = false;
  let refusal = '';
  let tellLinked: (agent: Agent | undefined) => void = () => {};
  const whenLinked = new Promise<Agent | undefined>((resolve) => (tellLinked = resolve));

  const judge: Judge = (error) => {
    const { status, code, message } = error as Error & { status?: number; code?: string };
    if (status === 401) access.renew(agentId);
    const passes =
      status === undefined || status === 401 || code === 'RATE_LIMITED' || code === 'UNAVAILABLE';
    if (!passes) log('warn', 'the hub refused what a session told it', { agent_id: agentId, code, message });
    return passes ? 'again' : 'give_up';
  };

  // Events go before the state, so that an old failure is never newer than the state that followed it.
  const outbox = createOutbox({
    rest: statusDelivery,
    onLost: (count) =>
      reporting({
        event_type: 'warning',
        data: { message: `${count} events were lost while the hub was away` },
      }),
    isExpecting: () => asking > 0,
    judge,
    closing: closing.signal,
  });

  function statusDelivery(): Delivery | undefined {
    const [status, passing] = standing();
    const metadata = { ...factsOf(session), ...passing };
    const saying = JSON.stringify([status, metadata]);
    if (saying === saidStatus || closing.signal.aborted) return undefined;
    return async (agent) => {
      await agent.status(status, metadata);
      saidStatus = saying;
    };
  }

  function standing(): ['busy' | 'error' | 'online', Record<string, unknown>] {
    if (task !== undefined)
      return ['busy', { currentTask: task, ...(open > 0 ? { waiting: 'prompt' } : {}) }];
    return failure === undefined ? ['online', {}] : ['error', { error: failure }];
  }

  async function connect(): Promise<Agent> {
    try {
      // Without these there is nothing to be patient about.
      access.url();
      await access.token(identity, agentId);
      return await connectAgent({
        url: () => access.url(),
        token: () => access.token(identity, agentId),
        name: identity,
        metadata: factsOf(session),
        commands: commandsOf(session),
        onConnection(state, reason) {
          connected = state === 'open';
          if (connected) saidStatus = '';
          else access.renew(agentId);
          if (state !== 'replaced') onHub(connected ? 'linked' : 'away', reason);
          outbox.wake();
        },
      });
    } catch (error) {
      const { message: reason, status } = error as Error & { status?: number };
      if (!(error instanceof AccessRefused) && status === undefined) onHub('away', reason);
      else if (reason !== refusal)
        log('warn', 'a session is not let in at the hub', { agent_id: agentId, identity, reason });
      refusal = reason;
      throw error;
    }
  }

  async function run(): Promise<void> {
    await predecessor;
    const agent = await retry(connect, () => 'again', closing.signal);
    tellLinked(agent);
    if (agent === undefined) return;
    await outbox.run(agent);
    await agent.close().catch(() => {});
  }

  const report = (told: Report | undefined): void => {
    if (told !== undefined) outbox.may(reporting(told));
  };
  const running = run().catch((error: unknown) =>
    log('error', 'the link to the hub failed', { agent_id: agentId, error: String(error) }),
  );
  return {
    turnStarted(turn) {
      const told = describeStart(turn);
      task = String(told.data?.['message']);
      failure = undefined;
      report(told);
    },
    turnEnded(turn) {
      task = undefined;
      failure = failureOf(turn);
      report(describeEnd(turn));
    },
    event: (event) => report(describeEvent(event)),
    asked(request, signal) {
      open += 1;
      asking += 1;
      outbox.wake();
      void aborted(signal).then(() => {
        open -= 1;
        outbox.wake();
      });
      const deps = { whenLinked, outbox, judge, timeoutMs: askMs, closing: closing.signal };
      const answer = putAsk(deps, request, signal)
        .catch((error: unknown) => {
          log('error', 'an approval could not be shown at the hub', {
            agent_id: agentId,
            error: String(error),
          });
          return undefined;
        })
        .finally(() => {
          asking -= 1;
          outbox.wake();
        });
      return { isThere: () => connected, answer };
    },
    failed(reason) {
      failure = reason;
      outbox.wake();
    },
    close() {
      closing.abort();
      outbox.wake();
      return running;
    },
  };
}

/** What tells one session from another, at every report. */
function factsOf(session: OpenSession): Record<string, unknown> {
  const { agent_id, team, cwd, repo_name, branch, role, tag, backend_id } = session.record();
  const facts = { session: agent_id, team, cwd, repo: repo_name, branch, role, tag, thread: backend_id };
  return Object.fromEntries(
    Object.entries(facts).filter(([, value]) => value !== null && value !== undefined),
  );
}
