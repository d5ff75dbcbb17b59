import { hash } from 'node:crypto';

import { DERIVED_KINDS, type PutRecord } from '@parley/core';
import { canonicalJson } from '@parley/protocol';

import type { DatabaseSync } from './sqlite.ts';

/** Holds the records that follow from the log against what the log tells. */
export interface DerivedCheck {
  /** Compares what one thread tells; a log that breaks off tells nothing of what became of its records. */
  compare(records: Iterable<PutRecord>, isBroken: boolean): string[];
  /** What is kept although no log tells of it. */
  untold(): string[];
}

interface Live {
  mark: string;
  owner: string;
  json: string;
}

/** Texts are checked as well: the log holds their hash. */
const KINDS = [...DERIVED_KINDS, 'content'].map((kind) => `'${kind}'`).join();

/** A check over one connection. */
export function createDerivedCheck(db: DatabaseSync): DerivedCheck {
  const get = db.prepare(
    'SELECT mark, owner, json FROM records WHERE kind = ? AND workspace_id = ? AND key = ?',
  );
  const all = db.prepare(`SELECT kind, workspace_id, key FROM records WHERE kind IN (${KINDS})`);
  const told = new Set<string>();
  let isSilent = false;

  function compareOne({ kind, workspace_id, key, mark, owner, value }: PutRecord): string[] {
    told.add(nameOf(kind, workspace_id, key));
    const row = get.get(kind, workspace_id, key) as Live | undefined;
    if (row === undefined) return [`${kind} ${key}: the log tells of it, but it is not there`];
    const isSame =
      row.mark === mark && row.owner === owner && canonicalText(row.json) === canonicalJson(value);
    return isSame ? [] : [`${kind} ${key}: what the log makes of it differs from the live one`];
  }

  function compareText(workspace_id: string, key: string): string[] {
    const name = nameOf('content', workspace_id, key);
    if (told.has(name)) return [];
    told.add(name);
    const row = get.get('content', workspace_id, key) as Live | undefined;
    const body = row === undefined ? undefined : bodyOf(row.json);
    if (body === undefined) return [`content ${key}: the log tells of it, but it is not there`];
    if (key.endsWith(` ${hash('sha256', body, 'hex')}`)) return [];
    return [`content ${key}: the text is not the one that the log tells of`];
  }

  return {
    compare(records, isBroken) {
      isSilent ||= isBroken;
      const problems: string[] = [];
      for (const record of records) {
        problems.push(...compareOne(record));
        if (record.kind !== 'revision') continue;
        const { document_id, sha256 } = record.value;
        problems.push(...compareText(record.workspace_id, `${document_id} ${sha256}`));
      }
      return isBroken ? [] : problems;
    },
    untold() {
      if (isSilent) return [];
      type Name = Record<'kind' | 'workspace_id' | 'key', string>;
      const problems: string[] = [];
      for (const { kind, workspace_id, key } of all.iterate() as unknown as Iterable<Name>)
        if (!told.has(nameOf(kind, workspace_id, key)))
          problems.push(`${kind} ${key}: it is there, but the log does not tell of it`);
      return problems;
    },
  };
}

function nameOf(kind: string, workspaceId: string, key: string): string {
  return `${kind} ${workspaceId} ${key}`;
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
