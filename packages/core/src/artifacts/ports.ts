import type { ArtifactRecord } from './artifact-record.ts';

/** What is said of bytes that are to be kept. */
interface Announced {
  mime_type: string;
  /** The hash that they must have. */
  sha256: string | undefined;
}

/** Keeps bytes under their hash, and signs URLs that lead to them. */
export interface Artifacts {
  /** Durable when it resolves; refuses too many bytes, another hash, and what is not what its type says. */
  keep(workspaceId: string, body: AsyncIterable<Uint8Array>, announced: Announced): Promise<StoredBytes>;
  /** All bytes of a hash, if they are not too many. */
  read(workspaceId: string, sha256: string, maxBytes: number): Promise<Uint8Array>;
  /** A URL for GET alone that is good until this second. */
  sign(artifact: ArtifactRecord, untilSec: number): Promise<string>;
  /** The bytes that a URL of ours leads to, if it is good now and nothing of it was changed. It is never fetched. */
  named(url: string): { workspace_id: string; sha256: string };
  /** The types that are taken. */
  types: readonly string[];
}

export interface StoredBytes {
  sha256: string;
  bytes: number;
}
