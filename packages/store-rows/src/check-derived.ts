import { hash } from 'node:crypto';

import { DERIVED_KINDS, type PutRecord } from '@parley/core';
import { canonicalJson, fieldsOf } from '@parley/protocol';

/** Holds the records that follow from the log against what the log tells. */
export interface DerivedCheck {
  /** Compares what one thread tells; a log that breaks off tells nothing of what became of its records. */
  compare(records: Iterable<PutRecord>, isBroken: boolean): string[];
  /** What is there although no log says so. */
  unexplained(kept: Iterable<RecordName>): string[];
}

/** By which a record is found. */
export type RecordName = Record<'kind' | 'workspace_id' | 'key', string>;

export interface LiveRecord {
  mark: string;
  owner: string;
  json: string;
}

/** What is held against the log. Texts are checked as well: the log holds their hash. */
export const DERIVED_AND_TEXTS: readonly string[] = [...DERIVED_KINDS, 'content'];

/** A check over the records that `get` finds. */
export function createDerivedCheck(
  get: (kind: string, workspaceId: string, key: string) => LiveRecord | undefined,
): DerivedCheck {
  const reported = new Set<string>();
  let isSilent = false;

  function compareOne({ kind, workspace_id, key, mark, owner, value }: PutRecord): string[] {
    reported.add(nameOf(kind, workspace_id, key));
    const row = get(kind, workspace_id, key);
    if (row === undefined) return [`${kind} ${key}: the log tells of it, but it is not there`];
    const isSame =
      row.mark === mark && row.owner === owner && canonicalText(row.json) === canonicalJson(value);
    return isSame ? [] : [`${kind} ${key}: what the log makes of it differs from the live one`];
  }

  function compareText(workspace_id: string, key: string): string[] {
    const name = nameOf('content', workspace_id, key);
    if (reported.has(name)) return [];
    reported.add(name);
    const row = get('content', workspace_id, key);
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
    unexplained(kept) {
      if (isSilent) return [];
      const problems: string[] = [];
      for (const { kind, workspace_id, key } of kept)
        if (!reported.has(nameOf(kind, workspace_id, key)))
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
    const { body } = fieldsOf(JSON.parse(json));
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
