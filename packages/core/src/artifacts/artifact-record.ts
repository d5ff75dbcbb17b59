import type { Artifact } from '@parley/protocol';

/** An artifact as it is kept beside the log, which tells of it as well. */
export interface ArtifactRecord extends Artifact {
  workspace_id: string;
}
