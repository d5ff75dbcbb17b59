import type { Caller, Role } from '@parley/protocol';

import type { Decision, Loaded, Needs } from '../commands.ts';
import type { PutRecord, RecordReader } from '../records.ts';
import { someRecords } from '../store-memory.ts';
import { treeRules } from './rules.ts';

/** The moment of every sample command that names no other. */
export const NOW = Date.parse('2030-01-01T00:00:00Z');

type Rules = typeof treeRules;
type CommandOf<T extends keyof Rules> = Parameters<Rules[T]['decide']>[1];

interface Circumstances {
  role?: Role;
  now?: number;
  agents_create_under?: readonly string[];
  order?: { context_id: string; seq: number };
}

/** A tree of documents without a store: what a rule decides can be looked at, and is carried out. */
export interface SampleTree {
  reader: RecordReader;
  put(...records: PutRecord[]): void;
  needs<T extends keyof Rules>(type: T, input: CommandOf<T>['input'], more?: Circumstances): Needs;
  run<T extends keyof Rules>(
    type: T,
    input: CommandOf<T>['input'],
    more?: Circumstances,
  ): ReturnType<Rules[T]['decide']>;
  /** Makes a document; its id is its title. */
  create(document_id: string, parent_id?: string, body?: string): void;
}

/** An empty tree. */
export function sampleTree(): SampleTree {
  const kept = new Map<string, PutRecord>();
  const nameOf = (kind: string, key: string): string => `${kind} ${key}`;
  const put = (...records: readonly PutRecord[]): void => {
    for (const record of records) kept.set(nameOf(record.kind, record.key), record);
  };
  const reader: RecordReader = {
    // What is put under a kind is of that kind; a map of all kinds does not say so.
    get: (kind, key) => kept.get(nameOf(kind, key))?.value as never,
    list: ({ limit = Infinity, ...query }) =>
      someRecords(kept.values(), { ...query, workspace_id: 'w', limit }),
  };
  const commandOf = (type: string, input: unknown, more: Circumstances = {}): never => {
    const { role = 'orchestrator', now = NOW, agents_create_under = ['root'], order } = more;
    const caller: Caller = { agent_id: 'ed', workspace_id: 'w', role, session_id: 'ed-1' };
    const head = { type, caller, now, salt: 1, thread_id: 't', agents_create_under, input };
    return (order === undefined ? head : { ...head, order }) as never;
  };
  const tree: SampleTree = {
    reader,
    put,
    needs: (type, input, more) => treeRules[type].needs(commandOf(type, input, more)),
    run(type, input, more) {
      const loaded: Loaded = {
        located: { thread: undefined, foreign: false },
        entry: undefined,
        cursor: undefined,
        records: reader,
      };
      const decision: Decision = treeRules[type].decide(loaded, commandOf(type, input, more));
      put(...(decision.records ?? []));
      for (const { kind, key } of decision.drops ?? []) kept.delete(nameOf(kind, key));
      return decision as never;
    },
    create(document_id, parent_id = 'root', body = 'text') {
      const content = { mime_type: 'text/markdown', body } as const;
      const metadata = { title: document_id };
      tree.run('create_document', { document_id, parent_id, content, metadata, is_human_readable: true });
    },
  };
  return tree;
}
