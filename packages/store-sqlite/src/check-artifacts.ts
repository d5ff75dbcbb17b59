import { artifactOf, type Entry } from '@parley/core';
import { canonicalJson } from '@parley/protocol';

import type { DatabaseSync } from './sqlite.ts';

/** Holds what is kept of artifacts against what the logs tell of them. */
export function createArtifactCheck(db: DatabaseSync) {
  const live = db.prepare(
    "SELECT json FROM records WHERE kind = 'artifact' AND workspace_id = ? AND key = ?",
  );
  const all = db.prepare("SELECT workspace_id, key FROM records WHERE kind = 'artifact'");
  const told = new Set<string>();

  return {
    /** Takes each entry of a tree's log in turn; what is said of it, if something is wrong. */
    see(workspaceId: string, entry: Entry): string[] {
      if (entry.type !== 'artifact.created') return [];
      const artifact = artifactOf(workspaceId, entry);
      const { artifact_id: id } = artifact;
      told.add(`${workspaceId} ${id}`);
      const row = live.get(workspaceId, id) as { json: string } | undefined;
      if (row === undefined) return [`artifact ${id}: the log tells of it, but it is not there`];
      if (canonicalJson(JSON.parse(row.json)) === canonicalJson(artifact)) return [];
      return [`artifact ${id}: what the log tells of it differs from the live one`];
    },
    /** What is kept of artifacts of which no log has told. */
    unheard: (): string[] =>
      (all.all() as { workspace_id: string; key: string }[])
        .filter(({ workspace_id, key }) => !told.has(`${workspace_id} ${key}`))
        .map(({ key }) => `artifact ${key}: it is there, but no log tells of it`),
  };
}
