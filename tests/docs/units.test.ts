import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, onTestFinished, test } from 'vitest';

const UNIT = fileURLToPath(new URL('../../deploy/systemd/parley@.service', import.meta.url));
const isThere = spawnSync('systemd-analyze', ['--version']).status === 0;

test.skipIf(!isThere)('the unit of a node is what systemd knows: no word of complaint', () => {
  const runtime = mkdtempSync(join(tmpdir(), 'parley-units-'));
  onTestFinished(() => rmSync(runtime, { recursive: true, force: true }));
  const env = { ...process.env, XDG_RUNTIME_DIR: runtime };
  const { status, stderr } = spawnSync('systemd-analyze', ['--man=no', 'verify', UNIT], { env });
  // An unknown key is told of and passed over, with status 0.
  expect([status, stderr.toString()]).toEqual([0, '']);
});
