import { LOCAL_ASKS_PATH, type LocalAsks } from '@parley/protocol';
import { plainSend } from '@parley/supervisor/plain-send';

import type { RunSettings } from '../config/run-settings.ts';
import { findHub } from './find-hub.ts';

const ASK_MS = 5_000;

/** How many asks are open in the other workspaces of this user's own hub; nothing where that cannot be known. */
export async function openElsewhere({
  data,
  workspace,
}: Pick<RunSettings['config'], 'data' | 'workspace'>): Promise<LocalAsks['workspaces']> {
  const found = findHub(data);
  if (found?.key === undefined) return [];
  const response = await plainSend(`${found.url}${LOCAL_ASKS_PATH}`, {
    headers: { authorization: `Bearer ${found.key}` },
    signal: AbortSignal.timeout(ASK_MS),
  });
  // What this hub answers there.
  const { workspaces = [] } = response.ok ? ((await response.json()) as Partial<LocalAsks>) : {};
  return workspaces.filter(({ workspace_id }) => workspace_id !== workspace);
}

/** One line for each other workspace in which somebody waits, with the command that shows it. */
export async function asksElsewhere(
  config: Pick<RunSettings['config'], 'data' | 'workspace'>,
  typed: (line: string) => string,
): Promise<string[]> {
  return (await openElsewhere(config)).map(
    ({ workspace_id, open }) =>
      `${open} open in the workspace ${workspace_id}: ${typed(`ask ls --workspace ${workspace_id}`)}`,
  );
}
