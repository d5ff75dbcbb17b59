import type { Staged } from './stage.ts';

/** Which bytes of a blob are wanted; both ends count. */
export interface Span {
  first: number;
  last: number;
}

/** Bytes by their hash: in the data folder, or in a bucket. */
export interface Blobs {
  /** Durable when it resolves; the same bytes again change nothing. */
  keep(workspaceId: string, staged: Staged): Promise<void>;
  /** The bytes in turn; throws before the last of them when they are not those of the hash. */
  read(workspaceId: string, sha256: string): AsyncIterable<Uint8Array>;
}
