import type { LiveLink } from '@parley/core';
import type { Caller, LiveMessage } from '@parley/protocol';

/** A connection of this face: a socket or a mailbox. */
export interface WireLink extends LiveLink {
  /** Sends a message that is in the words of the wire already. */
  say(message: LiveMessage): void;
}

/** Whoever has just said something, and how to answer. */
export interface Speaker {
  readonly caller: Caller;
  /** False once an answer would reach nobody. */
  readonly listening: boolean;
  reply(message: LiveMessage): void;
  /** The lasting connection of this speaker; made when there is none yet. */
  link(): LiveLink;
  /** Ends when the speaker goes away. */
  readonly signal: AbortSignal;
}

/** True for the connections that this face has made. */
export function isWireLink(link: LiveLink | undefined): link is WireLink {
  return link !== undefined && 'say' in link;
}
