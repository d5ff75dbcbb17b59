/** How it stands with the way to the other nodes. */
export interface BusHealth {
  connected: boolean;
  /** By what it goes. */
  how: 'nats' | 'postgres';
  reason?: string;
}

/**
 * Carries words between the nodes of one hub: at most once, in the order of their sender where nothing is lost. Nothing
 * in it is the truth; whoever must know looks at the store, or asks again.
 */
export interface Bus {
  /** The name of this node, from its start to its end. */
  readonly node: string;
  /** To every other node that hears it. */
  publish(subject: string, body: unknown): void;
  /** To one node. */
  send(node: string, subject: string, body: unknown): void;
  /** Hears what others publish under a subject, or send to this node under it. */
  subscribe(subject: string, listener: (body: unknown, from: string) => void): void;
  /** Calls back whenever the way is open again: what was said meanwhile is lost. */
  onConnected(listener: () => void): void;
  health(): BusHealth;
  close(): Promise<void>;
}
