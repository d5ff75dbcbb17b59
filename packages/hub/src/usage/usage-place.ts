import { join } from 'node:path';

import { lockFile } from '@parley/store-sqlite';

import type { RunSettings } from '../config/run-settings.ts';
import type { UsageReporterDeps } from './usage-reporter.ts';

/** Where it is kept how far the sessions of a workspace were told. */
export function usagePlace({
  data,
  workspace,
}: RunSettings['config']): Pick<UsageReporterDeps, 'folder' | 'lock' | 'after'> {
  return {
    folder: join(data, 'usage', workspace),
    lock: (path) => lockFile(path, 0),
    after: new Date(performance.timeOrigin).toISOString(),
  };
}
