import { setTimeout as sleep } from 'node:timers/promises';

import type { CommandHandler, Presence, SocketConstructor, Token } from '@parley/client';
import type { PresenceCalls } from '@parley/client/presence';
import { type InputOf, ParleyError } from '@parley/protocol';

import { plainSend } from './plain-send.ts';
import { createReports, type Report } from './reports.ts';

/** Where a hub answers, and who we are there. */
export interface FoundHub {
  url: string;
  token: Token;
}

export interface HubLinkOptions {
  name: string;
  runtime: string;
  metadata: Record<string, unknown>;
  commands: Record<string, CommandHandler>;
  /** Those of them that can be done again. */
  repeatable: readonly string[];
  /** Loaded when there is a hub. */
  WebSocket: () => Promise<SocketConstructor>;
  /** Looks for the hub; undefined while none runs. It may come back at another address. */
  find: () => Promise<FoundHub | undefined>;
  /** Settles when there is time for the hub: what the person sees comes first. */
  start: Promise<unknown>;
}

type PresenceStatus = Parameters<Presence['status']>;

/** The connection of a session to its hub, over restarts of the hub. */
export interface HubLink {
  /** Settles with the first look: why there is no hub, or undefined when there is. */
  readonly first: Promise<string | undefined>;
  /** Why a hub that was there never knew of the session, as far as that is known by now. */
  readonly missed: string | undefined;
  /** Says what the program is at, now and after each reconnection. */
  status(...status: PresenceStatus): void;
  /** Puts something into the agent's journal, once the hub is there. */
  report(report: Report): void;
  /** Tells what a turn used; throws while there is no hub. */
  used(usage: InputOf<'report_usage'>): Promise<unknown>;
  /** Takes leave, within a bound. */
  close(): Promise<void>;
}

const FIRST_TRY_MS = 1_500;
const AGAIN_MS = 3_000;
const LEAVE_MS = 1_500;

/** Keeps a session registered at whatever hub there is; without one it looks again every few seconds. */
export function openHubLink(options: HubLinkOptions): HubLink {
  const { name, runtime, metadata, find } = options;
  const answering = new Set<Promise<unknown>>();
  const commands = Object.fromEntries(
    Object.entries(options.commands).map(([command, handler]): [string, CommandHandler] => [
      command,
      (parameters, source) => {
        const answer = Promise.resolve(handler(parameters, source));
        answering.add(answer);
        return answer.finally(() => answering.delete(answer));
      },
    ]),
  );
  const closing = new AbortController();
  let agent: Presence | undefined;
  let hub: PresenceCalls | undefined;
  let opening: Promise<Presence> | undefined;
  let isKnown = false;
  let missed: string | undefined;
  let status: PresenceStatus = ['online'];
  const reports = createReports();
  let reported: (reason: string | undefined) => void = () => {};
  const first = new Promise<string | undefined>((resolve) => (reported = resolve));

  async function flush(): Promise<void> {
    const { report_event: tell } = hub ?? {};
    if (tell !== undefined) await reports.flush((report) => tell(report));
  }

  /** Registers; settles when the hub has moved elsewhere or another session has taken over. */
  async function stay({ url, token }: FoundHub): Promise<'moved' | 'replaced'> {
    const connection: { state: 'open' | 'lost' | 'replaced' } = { state: 'open' };
    const { createPresenceCalls, openPresence } = await import('@parley/client/presence');
    const calls = createPresenceCalls({ url, token, patienceMs: FIRST_TRY_MS }, plainSend);
    const WebSocket = await options.WebSocket();
    closing.signal.throwIfAborted();
    opening = openPresence(calls, {
      url,
      token,
      name,
      runtime,
      metadata,
      commands,
      repeatable: options.repeatable,
      WebSocket,
      session: { management_mode: 'managed' },
      onConnection: (state) => (connection.state = state),
    });
    agent = await opening;
    isKnown = true;
    await agent.status(...status).catch(() => {});
    hub = calls;
    await flush();
    while (connection.state !== 'replaced') {
      await sleep(AGAIN_MS, undefined, { signal: closing.signal });
      if (connection.state !== 'lost') {
        await flush();
        continue;
      }
      const found = await find().catch(() => undefined);
      if (found !== undefined && found.url !== url) break;
    }
    const gone = agent;
    agent = undefined;
    gone.close().catch(() => {});
    return connection.state === 'replaced' ? 'replaced' : 'moved';
  }

  async function live(): Promise<void> {
    for (;;) {
      let reason = 'no hub runs';
      try {
        const found = await find();
        if (found !== undefined) {
          reported(undefined);
          await options.start;
          if ((await stay(found)) === 'replaced') return;
        }
      } catch (error) {
        if (error instanceof Error && error.name === 'AbortError') return;
        reason = error instanceof Error ? error.message : String(error);
      }
      if (!isKnown) missed = reason;
      reported(reason);
      await sleep(AGAIN_MS, undefined, { signal: closing.signal });
    }
  }

  /** Answers what was asked before, then goes. */
  async function leave(): Promise<void> {
    await Promise.allSettled([...answering, opening]);
    // The answers themselves are sent a moment later.
    await sleep(0);
    await flush();
    await agent?.close().catch(() => {});
  }

  live().catch(() => {});
  return {
    first,
    get missed() {
      return isKnown ? undefined : missed;
    },
    status(...said) {
      status = said;
      agent?.status(...said).catch(() => {});
    },
    report(report) {
      reports.add(report);
      void flush();
    },
    async used(usage) {
      if (hub === undefined) throw new ParleyError('UNAVAILABLE', 'there is no hub yet');
      return hub.report_usage(usage);
    },
    async close() {
      closing.abort();
      await Promise.race([leave(), sleep(LEAVE_MS)]);
    },
  };
}
