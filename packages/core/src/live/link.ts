import type { Caller, LiveMessage } from '@parley/protocol';

import type { Follower } from './fan-out.ts';

/** A lasting connection on which someone can be reached: a socket, or a mailbox that is being fetched. */
export interface Link extends Follower {
  /** The kind of door: ws or http. */
  readonly how: string;
  /** Wall-clock milliseconds of its beginning. */
  readonly since: number;
  /** True once the agent has registered over this very connection. */
  registered: boolean;
  /** False once it has begun to end. */
  readonly listening: boolean;
  /** More waits to be sent than its buffer allows. */
  readonly full: boolean;
  send(message: LiveMessage): void;
  /** Sends what may be left out: a reader that is behind hears later how much it has missed. */
  offer(message: LiveMessage): void;
  /** Calls back once the peer has surely received all that was sent so far. */
  confirm(received: () => void): void;
  close(code: number, reason: string): void;
}

/** Whoever has just said something, and how to answer. */
export interface Speaker {
  readonly caller: Caller;
  /** False once an answer would reach nobody. */
  readonly listening: boolean;
  reply(message: LiveMessage): void;
  /** The lasting connection of this speaker; made when there is none yet. */
  link(): Link;
  /** Ends when the speaker goes away. */
  readonly signal: AbortSignal;
}

/** The codes with which the hub ends a connection. */
export const CLOSE = {
  /** The hub is stopping. */
  going_away: 1001,
  /** A flood of pings or of refused messages. */
  policy: 1008,
  /** The peer did not read for too long. */
  try_again: 1013,
  /** The token is no longer good. */
  unauthorized: 4401,
  /** The same session has connected again. */
  replaced: 4409,
} as const;
