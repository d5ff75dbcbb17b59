import { hidesSecrets, shareable } from '@parley/core';

import type { RecordColumns } from './row-sum.ts';

/** A record as a line of an export: what it says and, where nothing of it stays behind, the row that brings it back. */
export function exportedRecord({ kind, workspace_id, key, mark, owner, json }: RecordColumns): string {
  const name = JSON.stringify(kind);
  const row = hidesSecrets(kind) ? '' : `,"row":${JSON.stringify({ workspace_id, key, mark, owner })}`;
  return `{"type":${name},${name}:${shareable(kind, json)}${row}}`;
}
