import type { Ask } from '@parley/protocol';

import { artifactOf, artifactPut } from './artifacts/artifact-of.ts';
import { askOf, evolveAsk, putAsk } from './asks/evolve-ask.ts';
import type { Entry } from './entry.ts';
import { createTreeFold, TREE_KINDS, type TreeFold } from './knowledge/fold.ts';
import { putTimedMutes } from './participation/timed-mutes.ts';
import type { PutRecord, RecordKind } from './records.ts';
import { evolve, type ThreadState } from './threads/state.ts';

/** The kinds of records that follow from the log alone: what is lost of them can be made anew. */
export const DERIVED_KINDS = ['ask', 'artifact', 'mutes', ...TREE_KINDS] as const satisfies RecordKind[];

/** A thread made anew from its log, with all that is kept because of it. */
export interface ThreadFold {
  see(entry: Entry): void;
  /** Undefined before the first entry. */
  readonly state: ThreadState | undefined;
  records(): Iterable<PutRecord>;
}

/** Replays a thread by the same code that the rules use. */
export function createThreadFold(): ThreadFold {
  let state: ThreadState | undefined;
  let tree: TreeFold | undefined;
  const asks = new Map<string, Ask>();
  const artifacts: PutRecord[] = [];
  return {
    see(entry) {
      state = evolve(state, entry);
      const { workspace_id } = state;
      const ask = askOf(entry);
      if (ask !== undefined) asks.set(ask, evolveAsk(workspace_id, asks.get(ask), entry));
      if (state.tree !== true) return;
      if (entry.type === 'artifact.created') artifacts.push(artifactPut(artifactOf(workspace_id, entry)));
      tree ??= createTreeFold(workspace_id);
      tree.see(entry);
    },
    get state() {
      return state;
    },
    *records() {
      for (const ask of asks.values()) yield putAsk(ask);
      yield* artifacts;
      const mutes = state === undefined ? undefined : putTimedMutes(state);
      if (mutes !== undefined) yield mutes;
      if (tree !== undefined) yield* tree.records();
    },
  };
}
