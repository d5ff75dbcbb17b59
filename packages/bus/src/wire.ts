/** What a wire tells of itself and brings. */
interface WireEvents {
  onBytes(bytes: Buffer): void;
  /** It is open, for the first time or again. */
  onOpen(): void;
  /** It is not open any more, or could not be opened; told once until it is open again. */
  onShut(reason: string): void;
}

/** Carries bytes between nodes, at most once. */
interface Wire {
  readonly how: 'nats' | 'postgres';
  /** The most bytes that go in one piece. */
  readonly maxBytes: number;
  /** To one node, or without a name to all of them. */
  send(to: string | undefined, bytes: Buffer): void;
  close(): Promise<void>;
}

/** Opens a wire; one that cannot be opened yet goes on trying by itself. */
export type OpenWire = (node: string, events: WireEvents) => Wire;
