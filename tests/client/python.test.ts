import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';

const script = fileURLToPath(new URL('../../clients/python/tests/test_client.py', import.meta.url));
// A few messages at once, then one in half a second.
const settings = { 'quota.messages_burst': 4, 'quota.messages_per_minute': 120 };
const scene = useHub({ settings });

describeWith(['python'], 'the Python client', ({ python }) => {
  test('errors by code, retries, patience, 429, waiting, cancellation and a partition, with nothing but Python', () => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      PYTHONDONTWRITEBYTECODE: '1',
      PARLEY_URL: scene.hub.url,
      PARLEY_TOKEN: scene.as('alice').token,
      PARLEY_OTHER: scene.as('bob').token,
    };
    // -S: nothing that somebody has installed beside Python.
    const { status, stderr } = spawnSync(python, ['-S', script, '-v'], {
      env,
      encoding: 'utf8',
      timeout: 200_000,
    });
    expect(stderr).toMatch(/\nOK\s*$/);
    expect(status).toBe(0);
    const named = readFileSync(script, 'utf8').match(/def test_\w+/g) ?? [];
    expect(stderr).toContain(`Ran ${named.length} tests`);
  }, 240_000);
});
