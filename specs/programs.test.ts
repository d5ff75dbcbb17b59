import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(`${root}/${path}`, 'utf8');

/** Every file that may start a program, and which; a new one is a decision, and stands in the documents too. */
const STARTS = {
  'packages/codex-proxy/src/cli/init.ts': ['claude'],
  'packages/codex-proxy/src/context/read-context.ts': ['git'],
  'packages/codex-proxy/src/finisher/start-finisher.ts': ['node'],
  'packages/hub/src/cli/run/init/run-client.ts': ['claude', 'codex', 'gemini'],
  'packages/hub/src/cli/run/init/try-server.ts': ['parley mcp'],
  'packages/hub/src/verify/sessions.ts': ['parley run', 'codex', 'claude'],
  'packages/hub/src/verify/trial-hub.ts': ['parley serve'],
  'packages/mail/src/locks/flock.ts': ['flock'],
  'packages/runtimes/src/process/child.ts': ['codex', 'claude'],
  'packages/runtimes/src/process/guard-group.ts': ['node'],
  'packages/runtimes/src/terminal/open-pty.ts': ['parley run'],
  'packages/search/src/model-port.ts': ['node'],
  'packages/supervisor/src/job-control.ts': ['ps'],
  'packages/supervisor/src/line-settings.ts': ['stty'],
  'packages/supervisor/src/run-between-pipes.ts': ['parley run'],
};

const sources = readdirSync(`${root}/packages`, { recursive: true, encoding: 'utf8' })
  .map((path) => `packages/${path}`)
  .filter((path) => /^packages\/[^/]+\/src\/.*\.ts$/.test(path) && !path.endsWith('.test.ts'));

test('programs are started in these places and in no other', () => {
  const starting = sources.filter((path) => /from '(node:child_process|@lydell\/node-pty)'/.test(read(path)));
  expect(starting.toSorted()).toEqual(Object.keys(STARTS));
});

test('none is started through a shell', () => {
  for (const path of Object.keys(STARTS)) {
    const [, names = ''] = /import \{([^}]*)\} from 'node:child_process'/.exec(read(path)) ?? [];
    const used = names.split(',').map((name) => name.trim());
    expect(
      ['spawn', 'spawnSync', 'execFile', 'fork', 'type ChildProcess', 'type ChildProcessByStdio', ''],
      path,
    ).toEqual(expect.arrayContaining(used));
    expect(read(path), path).not.toMatch(/\bshell:|'(\/bin\/)?(ba|da|z)?sh'/);
  }
});

test('the documents name each of them', () => {
  const reported = ['docs/atm-agent-mcp.md', 'docs/operations.md']
    .map((path) => /^## Programs$([^]*?)^## /m.exec(read(path))?.[1] ?? '')
    .join('\n');
  for (const program of new Set(Object.values(STARTS).flat())) expect(reported).toContain(`\`${program}`);
});
