import type { Artifact } from '@parley/protocol';

import type { InThread } from '../command.ts';

/** The bytes are kept already; the log tells of it. */
export type PutArtifact = InThread<
  'put_artifact',
  { name: string; mime_type: string; bytes: number; sha256: string },
  { artifact: Artifact }
> & { artifact_id: string };

/** What changes artifacts. */
export type ArtifactCommands = PutArtifact;
