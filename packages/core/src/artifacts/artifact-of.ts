import { type Entry, factsOf } from '../entry.ts';
import type { PutRecord } from '../records.ts';
import type { ArtifactRecord } from './artifact-record.ts';

type ArtifactFacts = Pick<ArtifactRecord, 'artifact_id' | 'name' | 'mime_type' | 'bytes' | 'sha256'>;

/** The artifact that an entry of the log tells of; the record beside it must be the same. */
export function artifactOf(workspace_id: string, entry: Entry): ArtifactRecord {
  const { artifact_id, name, mime_type, bytes, sha256 } = factsOf<ArtifactFacts>(entry);
  const { created_at, sender_agent_id: created_by } = entry;
  return { workspace_id, artifact_id, name, mime_type, bytes, sha256, created_at, created_by };
}

/** The write of an artifact’s record. */
export function artifactPut(value: ArtifactRecord): PutRecord {
  const { workspace_id, artifact_id: key, mime_type: mark, created_by: owner } = value;
  return { kind: 'artifact', workspace_id, key, mark, owner, value };
}
