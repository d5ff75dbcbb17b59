import type { Caller } from '@parley/protocol';

import type { SessionName } from '../agents/ports.ts';
import type { NodeCalls } from '../nodes/node-calls.ts';
import type { Link } from './link.ts';
import type { LiveUpdate } from './live-update.ts';

/** What a node tells of one who is connected to it. */
export interface LinkFacts {
  caller: Caller;
  how: string;
  since: number;
  registered: boolean;
  takes?: readonly string[] | undefined;
}

/** Sends an update to a session that is connected to the node that is asked. */
export const SEND = 'live.send';
export interface Sent {
  session: SessionName;
  update: LiveUpdate;
}

/** How long one may take to say that it has received something. */
const RECEIVED_MS = 60_000;

/** Someone who is connected to another node: what it is sent goes there. Nobody follows threads over it. */
export class RemoteLink implements Link {
  readonly node: string;
  readonly caller: Caller;
  readonly how: string;
  readonly since: number;
  readonly listening = true;
  readonly full = false;
  registered: boolean;
  takes?: readonly string[];
  readonly #calls: NodeCalls;
  #received: Promise<boolean> = Promise.resolve(true);

  constructor(node: string, { caller, how, since, registered, takes }: LinkFacts, calls: NodeCalls) {
    this.node = node;
    this.caller = caller;
    this.how = how;
    this.since = since;
    this.registered = registered;
    if (takes !== undefined) this.takes = takes;
    this.#calls = calls;
  }

  send(update: LiveUpdate): void {
    const sent: Sent = { session: sessionOf(this.caller), update };
    this.#received = this.#calls.ask(this.node, SEND, sent, { timeoutMs: RECEIVED_MS }).then(
      () => true,
      () => false,
    );
  }

  offer(update: LiveUpdate): void {
    this.send(update);
  }

  confirm(received: () => void): void {
    void this.#received.then((is) => is && received());
  }

  /** Its own node sees to that. */
  replaced(): void {}

  deliver(): boolean {
    return false;
  }

  fellBehind(): void {}

  dropped(): void {}

  drained(): Promise<boolean> {
    return Promise.resolve(false);
  }
}

export function sessionOf({ workspace_id, agent_id, session_id }: SessionName): SessionName {
  return { workspace_id, agent_id, session_id };
}

/** True for a connection to this very node. */
export function isHere(link: Link | undefined): link is Link {
  return link !== undefined && link.node === undefined;
}
