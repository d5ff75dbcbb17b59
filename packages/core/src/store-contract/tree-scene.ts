import { expect } from 'vitest';

import type { Caller } from '@parley/protocol';

import type { Command, ResultOf } from '../commands.ts';
import { createTreeFold, TREE_KINDS } from '../knowledge/fold.ts';
import type { PutRecord } from '../records.ts';
import type { Committed, Store } from '../store.ts';
import { treeId } from '../threads/access.ts';
import { ALL, callerOf, head, NOW } from './scene.ts';

/** The id of the nth document of a test. */
export function nth(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}

type TreeCommand = Extract<
  Command,
  {
    type:
      | 'create_document'
      | 'update_document'
      | 'delete_document'
      | 'restore_document'
      | 'move_document'
      | 'revert_document'
      | 'purge_document'
      | 'tidy_order';
  }
>;
type InputOf<T extends TreeCommand['type']> = Extract<TreeCommand, { type: T }>['input'];

/** One test's tree: whoever acts is an editor unless somebody else is named. */
export interface TreeScene {
  workspace_id: string;
  editor: Caller;
  run<T extends TreeCommand['type']>(
    type: T,
    input: InputOf<T>,
    more?: {
      caller?: Caller;
      now?: number;
      agents_create_under?: string[];
      order?: { context_id: string; seq: number };
    },
  ): Promise<Committed<ResultOf<T>>>;
  create(
    n: number,
    parent?: number,
    body?: string,
    title?: string,
  ): Promise<Committed<ResultOf<'create_document'>>>;
  /** The numbers of the documents under one, in their order, deleted ones too. */
  children(parent?: number): Promise<number[]>;
  document(n: number): ReturnType<typeof one>;
  history(n: number): Promise<{ revision: number; action: string; by: string }[]>;
  /** Makes the tree anew from its log and holds it against what is kept. */
  checkFold(): Promise<void>;
}

/** A tree in a store. */
export function treeScene(store: Store, workspace_id: string): TreeScene {
  const editor = callerOf('ed', workspace_id, 'orchestrator');
  const thread_id = treeId(workspace_id);
  const parentId = (parent: number | undefined): string => (parent === undefined ? 'root' : nth(parent));
  const scene: TreeScene = {
    workspace_id,
    editor,
    // What a type takes as its input stands in the signature; put together here, the compiler no longer sees it.
    run: (type, input, { caller = editor, now = NOW, agents_create_under = ['root'], order } = {}) =>
      store.transact({
        type,
        ...head(caller, now),
        thread_id,
        agents_create_under,
        input,
        ...(order === undefined ? {} : { order }),
      } as never),
    create: (n, parent, body = `text ${n}`, title = `title ${n}`) =>
      scene.run('create_document', {
        document_id: nth(n),
        parent_id: parentId(parent),
        content: { mime_type: 'text/markdown', body },
        metadata: { title },
        is_human_readable: true,
      }),
    async children(parent) {
      const prefix = `${parentId(parent)} `;
      const found = await store.records({ kind: 'branch', workspace_id, prefix, limit: 10_000 });
      return found.map(({ document_id }) => Number(document_id.slice(-12)));
    },
    document: (n) => one(store, workspace_id, n),
    async history(n) {
      const query = { kind: 'revision', workspace_id, prefix: `${nth(n)} `, limit: 10_000 } as const;
      return (await store.records(query)).map(({ revision, action, by }) => ({ revision, action, by }));
    },
    async checkFold() {
      const fold = createTreeFold(workspace_id);
      const { entries } = await store.page({ workspace_id, thread_id, after: -1, ...ALL, limit: 1e6 });
      for (const entry of entries) fold.see(entry);
      const folded = [...fold.records()];
      for (const kind of TREE_KINDS) {
        const live = await store.records({ kind, workspace_id, limit: 1e6 });
        const reported = folded.filter((record) => record.kind === kind).toSorted(byKey);
        expect(live).toEqual(reported.map(({ value }) => value));
      }
    },
  };
  return scene;
}

async function one(store: Store, workspace_id: string, n: number) {
  const [kept] = await store.records({ kind: 'document', workspace_id, keys: [nth(n)], limit: 1 });
  return kept;
}

function byKey(a: PutRecord, b: PutRecord): number {
  return a.key < b.key ? -1 : 1;
}
