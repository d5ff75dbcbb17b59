import { standingEntry } from '../agents/journal.ts';
import type { PutArtifact, Rule } from '../commands.ts';
import { requireTreeRight } from '../knowledge/rights.ts';
import { artifactOf, artifactPut } from './artifact-of.ts';

const putArtifact: Rule<PutArtifact> = {
  needs: ({ thread_id }) => ({ thread: thread_id }),
  decide(loaded, command) {
    const { caller, input, artifact_id } = command;
    requireTreeRight(caller, 'create');
    const { workspace_id } = caller;
    const reported = standingEntry(
      loaded.located,
      command,
      'the tree of documents',
      { tree: true },
      {
        type: 'artifact.created',
        kind: 'system',
        body: `kept ${input.name}`,
        metadata: { artifact_id, ...input },
      },
    );
    const value = artifactOf(workspace_id, reported.entry);
    const { workspace_id: _workspace, ...artifact } = value;
    return {
      changes: [reported.change],
      records: [artifactPut(value)],
      result: { artifact },
    };
  },
};

export const artifactRules = { put_artifact: putArtifact };
