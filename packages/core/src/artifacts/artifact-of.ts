import type { Entry } from '../entry.ts';
import type { PutRecord } from '../records.ts';
import type { KeptArtifact } from './kept.ts';

/** The artifact that an entry of the log tells of; the record beside it must be the same. */
export function artifactOf(workspace_id: string, entry: Entry): KeptArtifact {
  const told = entry.metadata as unknown as Pick<
    KeptArtifact,
    'artifact_id' | 'name' | 'mime_type' | 'bytes' | 'sha256'
  >;
  const { artifact_id, name, mime_type, bytes, sha256 } = told;
  const { created_at, sender_agent_id: created_by } = entry;
  return { workspace_id, artifact_id, name, mime_type, bytes, sha256, created_at, created_by };
}

/** An artifact as it is kept. */
export function putKeptArtifact(value: KeptArtifact): PutRecord {
  const { workspace_id, artifact_id: key, mime_type: mark, created_by: owner } = value;
  return { kind: 'artifact', workspace_id, key, mark, owner, value };
}
