import type { Agent, AgentOptions } from '@parley/client';
import {
  type AskVerdict,
  type InputOf,
  type TurnUsage,
  errorStatus,
  errorCode,
  errorText,
} from '@parley/protocol';

import { createOutbox, type Delivery } from './outbox.ts';
import { aborted, putAsk } from './put-ask.ts';
import { type Report, reporting, using } from './reporting.ts';
import { type Judge, retry } from './retry.ts';

export interface SessionLinkDeps {
  /** Registers the session; what it throws is tried again. */
  connect: (onConnection: NonNullable<AgentOptions['onConnection']>) => Promise<Agent>;
  /** The hub did not know the token, or the connection was lost: the next token must be a fresh one. */
  renew: () => void;
  /** What tells this session from another, at every report. */
  facts: () => Record<string, unknown>;
  /** How long an ask may wait for its answer. */
  askMs: number;
  /** Settles when whoever had this name before has taken leave. */
  predecessor?: Promise<void>;
  log: (level: 'warn' | 'error', message: string, facts: Record<string, unknown>) => void;
}

/** One session as an agent of the hub: its state, its events, its asks. No turn ever waits for it. */
export interface SessionLink {
  /** It works on something now. */
  begun(task: string): void;
  /** It rests; with a failure a person should look at it. */
  rested(failure?: string): void;
  report(report: Report): void;
  /** What a turn used, and which thread of the hub it served, if one. */
  used(usage: TurnUsage, threadId?: string): void;
  /**
   * Puts a question before a person; the signal's abort tells that it is settled here, and by its reason how. What cannot
   * be shown there whole has no content: the session only counts as waiting.
   */
  ask(content: InputOf<'raise_ask'> | undefined, signal: AbortSignal): LinkedAsk;
  /** Says the rest if the hub is there, and takes leave; settles in any case. */
  close(): Promise<void>;
}

interface LinkedAsk {
  /** True while somebody may see it at the hub. */
  isThere: () => boolean;
  /** Undefined when no answer will come from there; never rejects. */
  verdict: Promise<AskVerdict | undefined>;
}

/** Links a session in the background, over every outage of the hub. */
export function openSessionLink(deps: SessionLinkDeps): SessionLink {
  const { facts, askMs, log } = deps;
  const closing = new AbortController();
  let task: string | undefined;
  let failure: string | undefined;
  /** Questions that are not settled yet, and those that the hub may yet have to hear of. */
  let open = 0;
  let asking = 0;
  let saidStatus = '';
  let connected = false;
  let tellLinked: (agent: Agent | undefined) => void = () => {};
  const whenLinked = new Promise<Agent | undefined>((resolve) => (tellLinked = resolve));

  const judge: Judge = (error) => {
    const [status, code, message] = [errorStatus(error), errorCode(error), errorText(error)];
    if (status === 401) deps.renew();
    const passes =
      status === undefined || status === 401 || code === 'RATE_LIMITED' || code === 'UNAVAILABLE';
    if (!passes) log('warn', 'the hub refused what a session told it', { code, message });
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
    const metadata = { ...facts(), ...passing };
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

  const connect = (): Promise<Agent> =>
    deps.connect((state) => {
      connected = state === 'open';
      if (connected) saidStatus = '';
      else deps.renew();
      outbox.wake();
    });

  async function run(): Promise<void> {
    await deps.predecessor;
    const agent = await retry(connect, () => 'again', closing.signal);
    tellLinked(agent);
    if (agent === undefined) return;
    await outbox.run(agent);
    await agent.close().catch(() => {});
  }

  const running = run().catch((error: unknown) =>
    log('error', 'the link to the hub failed', { error: String(error) }),
  );
  return {
    begun(reported) {
      task = reported;
      failure = undefined;
      outbox.wake();
    },
    rested(why) {
      task = undefined;
      failure = why;
      outbox.wake();
    },
    report: (reported) => outbox.may(reporting(reported)),
    used: (usage, threadId) => outbox.may(using(usage, threadId)),
    ask(content, signal) {
      open += 1;
      asking += 1;
      outbox.wake();
      void aborted(signal).then(() => {
        open -= 1;
        outbox.wake();
      });
      if (content === undefined) {
        asking -= 1;
        return { isThere: () => false, verdict: Promise.resolve(undefined) };
      }
      const put = { whenLinked, outbox, judge, timeoutMs: askMs, closing: closing.signal };
      const verdict = putAsk(put, content, signal)
        .catch((error: unknown) => {
          log('error', 'an approval could not be shown at the hub', { error: String(error) });
          return undefined;
        })
        .finally(() => {
          asking -= 1;
          outbox.wake();
        });
      return { isThere: () => connected, verdict };
    },
    close() {
      closing.abort();
      outbox.wake();
      return running;
    },
  };
}
