import { join } from 'node:path';

import type { SessionRecord } from './session-record.ts';

export const SUMMARY = 'summary.md';

/** Where a session of this team keeps the summary that it left. */
export function summaryPath(
  teamFolder: string,
  { identity, backend_id }: Pick<SessionRecord, 'identity' | 'backend_id'>,
): string | undefined {
  return backend_id === null || !/^[A-Za-z0-9-]+$/.test(backend_id)
    ? undefined
    : join(teamFolder, identity, backend_id, SUMMARY);
}
