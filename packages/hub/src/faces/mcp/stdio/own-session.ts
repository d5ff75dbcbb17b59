import { setTimeout as sleep } from 'node:timers/promises';

import { errorCode } from '@parley/protocol';
import { type Agent, type Client, createClient, openAgent } from '@parley/client';
import { WebSocket } from 'ws';

import { agentOf } from '../../../auth/agent-of.ts';
import type { HostSession } from './host-session.ts';

export interface OwnSessionDeps {
  url: () => Promise<string>;
  /** The hub at this address does not answer: it may be back elsewhere. */
  lost: (url: string) => void;
  token: () => Promise<string>;
  /** The name that people see. */
  name: () => string;
  proofMs: number;
  onFault: (error: unknown) => void;
}

type Opened = Pick<Agent, 'close'> & { beat?: () => Promise<unknown> };

/** Shows the hub that the session lives and by which id it is resumed, and takes its wakes where it has an inbox. */
export function createOwnSession(deps: OwnSessionDeps) {
  let opening: Promise<Opened> | undefined;
  let host: HostSession | undefined;
  let shown: Promise<unknown> | undefined;
  let usedAt = -Infinity;
  let isClosed = false;
  const isAtWork = (): boolean => performance.now() - usedAt < AT_WORK_MS;

  async function open(finding: () => Promise<HostSession>): Promise<Opened> {
    let at = '';
    const url = async (): Promise<string> => (at = await deps.url());
    // A hub that starts in this process has the keys in hand until it is there.
    const [session] = await Promise.all([finding(), url()]);
    host = session;
    const { token, name } = deps;
    const lost = (): void => deps.lost(at);
    const { inbox, runtime } = session;
    // Read at each heartbeat: Codex may name its thread later.
    const about = {
      get resumable() {
        return session.id !== undefined;
      },
      get native_session_id() {
        return session.id;
      },
    };
    const client = createClient({ url, token, patienceMs: LEAVE_MS });
    const say = (status: OwnStatus) => client.heartbeat_session({ ...about, runtime, status });
    // A client that calls once and ends is known by this.
    await say(isAtWork() ? 'active' : 'idle');
    if (inbox === undefined || session.supervised || (await isSupervised(client, token)))
      return beating(say, isAtWork, lost);
    const agent = await openAgent({
      url,
      token,
      name: name(),
      runtime,
      session: about,
      WebSocket,
      patienceMs: LEAVE_MS,
      reconnectMs: RECONNECT_MS,
      onConnection: (state) => void (state === 'lost' && lost()),
      commands: {
        wake: ({ prompt, trigger_id, again, force }) =>
          inbox.send({
            prompt: String(prompt),
            mark: String(trigger_id),
            again: again === true,
            force: force === true,
            proofMs: deps.proofMs,
          }),
        wake_state: () => inbox.state(),
      },
    });
    return { close: () => agent.close(), beat: () => agent.status('online') };
  }

  /** Tried until the hub hears it, for a session that rests says nothing more; who may not say that it lives is left alone. */
  function begin(finding: () => Promise<HostSession>): void {
    if (opening !== undefined || isClosed) return;
    opening = open(finding);
    opening.catch((error: unknown) => {
      deps.onFault(error);
      if (errorCode(error) === 'FORBIDDEN') return;
      opening = undefined;
      setTimeout(begin, AGAIN_MS, finding).unref();
    });
  }

  return {
    /** Begins with the first that is known of the session. */
    begin,
    /** By this id the session is resumed, whatever was thought before. */
    known(id: string): void {
      if (host === undefined || host.id === id) return;
      host.id = id;
      opening?.then((opened) => opened.beat?.()).catch(deps.onFault);
    },
    /** The hub knows of the session, or had its time to, once: a client may end us with its first answer. */
    async shown(): Promise<void> {
      shown ??= Promise.race([opening?.catch(() => {}), sleep(LEAVE_MS, undefined, { ref: false })]);
      await shown;
    },
    /** The model has called a tool. */
    used: () => void (usedAt = performance.now()),
    async close(): Promise<void> {
      isClosed = true;
      const opened = await opening?.catch(() => undefined);
      await opened?.close().catch(deps.onFault);
    },
  };
}

/** How long the leave of a session may be tried to be told. */
const LEAVE_MS = 1_000;
const BEAT_MS = 20_000;
const AGAIN_MS = 3_000;
/** A hub that comes back finds the session again within this time. */
const RECONNECT_MS = 2_000;
/** So long after a call its model counts as being at work: nothing else shows it. */
const AT_WORK_MS = 60_000;

/** A supervisor has this agent's connection: its commands must go on reaching it. */
async function isSupervised(client: Client, token: () => Promise<string>): Promise<boolean> {
  const found = await client.get_agent({ of_agent: agentOf(await token()) }).catch(() => undefined);
  if (found === undefined || found.connected.length === 0) return false;
  return found.capabilities.some((command) => SUPERVISED.has(command));
}

const SUPERVISED: ReadonlySet<string> = new Set(['terminal_deliver', 'session_deliver']);

type OwnStatus = 'active' | 'idle' | 'offline';

/** Heartbeats alone, until it is closed. */
function beating(
  say: (status: OwnStatus) => Promise<unknown>,
  isAtWork: () => boolean,
  lost: () => void,
): Opened {
  const beat = () => say(isAtWork() ? 'active' : 'idle');
  const timer = setInterval(() => void beat().catch(lost), BEAT_MS);
  return {
    beat,
    async close(): Promise<void> {
      clearInterval(timer);
      await say('offline');
    },
  };
}
