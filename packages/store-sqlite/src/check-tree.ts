import { hash } from 'node:crypto';

import { createTreeFold, type Entry, type PutRecord, TREE_KINDS, type TreeFold } from '@parley/core';
import { canonicalJson } from '@parley/protocol';

import type { DatabaseSync } from './sqlite.ts';

/** Makes the trees of the log anew and holds them against the live ones. */
export interface TreeCheck {
  /** Takes each entry of a tree's log in turn. */
  see(workspaceId: string, entry: Entry): void;
  /** Compares what the log told; called where it ends. */
  endOfThread(): string[];
  /** What is kept of documents of which no log has told. */
  unheard(): string[];
}

interface Live {
  mark: string;
  json: string;
}

const KINDS = [...TREE_KINDS, 'content'].map((kind) => `'${kind}'`).join();

/** A check over one connection. */
export function createTreeCheck(db: DatabaseSync): TreeCheck {
  const live = db.prepare('SELECT mark, json FROM records WHERE kind = ? AND workspace_id = ? AND key = ?');
  const keys = db.prepare(
    `SELECT kind, key FROM records WHERE kind IN (${KINDS}) AND workspace_id = ? ORDER BY kind, key`,
  );
  const workspaces = db.prepare(`SELECT DISTINCT workspace_id AS id FROM records WHERE kind IN (${KINDS})`);
  const heard = new Set<string>();
  let fold: { workspace_id: string; tree: TreeFold } | undefined;

  function compare({ kind, workspace_id, key, mark, value }: PutRecord): string[] {
    const row = live.get(kind, workspace_id, key) as Live | undefined;
    if (row === undefined) return [`${kind} ${key}: the log tells of it, but it is not there`];
    if (row.mark === mark && canonicalText(row.json) === canonicalJson(value)) return [];
    return [`${kind} ${key}: what the log makes of it differs from the live one`];
  }

  function checkText(workspaceId: string, key: string): string[] {
    const row = live.get('content', workspaceId, key) as Live | undefined;
    const body = row === undefined ? undefined : bodyOf(row.json);
    if (body === undefined) return [`content ${key}: the log tells of it, but it is not there`];
    if (key.endsWith(` ${hash('sha256', body, 'hex')}`)) return [];
    return [`content ${key}: the text is not the one that the log tells of`];
  }

  return {
    see(workspace_id, entry) {
      fold ??= { workspace_id, tree: createTreeFold(workspace_id) };
      fold.tree.see(entry);
    },
    endOfThread() {
      if (fold === undefined) return [];
      const { workspace_id, tree } = fold;
      fold = undefined;
      heard.add(workspace_id);
      const problems: string[] = [];
      const told = new Set<string>();
      for (const record of tree.records()) {
        told.add(`${record.kind} ${record.key}`);
        problems.push(...compare(record));
        if (record.kind !== 'revision') continue;
        const text = `${record.value.document_id} ${record.value.sha256}`;
        if (told.has(`content ${text}`)) continue;
        told.add(`content ${text}`);
        problems.push(...checkText(workspace_id, text));
      }
      for (const { kind, key } of keys.iterate(workspace_id) as Iterable<Record<'kind' | 'key', string>>)
        if (!told.has(`${kind} ${key}`))
          problems.push(`${kind} ${key}: it is there, but the log does not tell of it`);
      return problems;
    },
    unheard: () =>
      (workspaces.all() as { id: string }[])
        .filter(({ id }) => !heard.has(id))
        .map(({ id }) => `workspace ${id} has documents, but no log tells of them`),
  };
}

function bodyOf(json: string): string | undefined {
  try {
    const { body } = JSON.parse(json) as { body?: unknown };
    return typeof body === 'string' ? body : undefined;
  } catch {
    return undefined;
  }
}

function canonicalText(json: string): string | undefined {
  try {
    return canonicalJson(JSON.parse(json));
  } catch {
    return undefined;
  }
}
