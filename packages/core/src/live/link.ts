import type { Follower } from './fan-out.ts';
import type { LiveUpdate } from './live-update.ts';

/** A lasting connection on which someone can be reached: a socket, or a mailbox that is being fetched. */
export interface Link extends Follower {
  /** The other node to which it is connected; undefined for this one. */
  readonly node?: string | undefined;
  /** The kind of door: ws or http. */
  readonly how: string;
  /** Wall-clock milliseconds of its beginning. */
  readonly since: number;
  /** True once the agent has registered over this very connection. */
  registered: boolean;
  /** The commands it named when it registered over this very connection. */
  takes?: readonly string[];
  /** False once it has begun to end. */
  readonly listening: boolean;
  /** More waits to be sent than its buffer allows. */
  readonly full: boolean;
  send(update: LiveUpdate): void;
  /** Sends what may be left out: a reader that is behind hears later how much it has missed. */
  offer(update: LiveUpdate): void;
  /** Calls back once the peer has surely received all that was sent so far. */
  confirm(received: () => void): void;
  /** The same session has connected again: this connection ends. */
  replaced(): void;
}
