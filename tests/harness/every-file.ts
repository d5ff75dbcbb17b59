/** Runs before each test file of `tests/`; its hook is the first to be registered and so the last to run. */
import { relative } from 'node:path';

import { afterAll, beforeEach } from 'vitest';

import { readSingle } from '../single-node.ts';
import { endFile } from './at-file-end.ts';
import { freshConnections } from './fresh-connections.ts';
import { onPostgres } from './store-profile.ts';

afterAll(endFile);

// What stays single is named with its reason; whole files are left out before they begin.
if (onPostgres) {
  await freshConnections();
  const single = readSingle().embedded;
  beforeEach(({ task, skip }) => {
    const reason = single[`${relative('', task.file.filepath)} > ${task.name}`];
    if (reason !== undefined) skip(reason);
  });
}
