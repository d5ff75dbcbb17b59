import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createSloWindow } from '@parley/core';
import { afterAll, expect, test } from 'vitest';

import { folderFiles } from '../state-files/folder-files.ts';
import { keepSlo, SLO_FILE } from './slo-file.ts';

const HOUR_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'parley-slo-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const fail = (error: unknown): void => {
  throw error;
};

test('[KNOW-23] the counts of a week stay over a restart, and what is older falls out', async () => {
  let now = 1_000 * HOUR_MS;
  const clock = { now: () => now };
  const open = () => createSloWindow(clock);
  const first = open();
  const kept = keepSlo(folderFiles(folder), first, clock, fail);
  first.answered('w1', 'internal', 7, undefined);
  first.answered('w1', 'external', 5_000, 'CONFLICT');
  first.retry('w1');
  first.deadLetter('w1');
  await kept.close();
  expect(statSync(join(folder, SLO_FILE)).mode & 0o777).toBe(0o600);

  now += 167 * HOUR_MS;
  const again = open();
  await keepSlo(folderFiles(folder), again, clock, fail).close();
  expect(again.last('w1', 168).tally).toMatchObject({
    requests: 2,
    failures: 1,
    dead_letters: 1,
    retries: 1,
    codes: { CONFLICT: 1 },
  });
  expect(again.last('w1', 24).tally.requests).toBe(0);
  expect(again.last('w2', 168).tally.requests).toBe(0);

  now += HOUR_MS;
  expect(again.last('w1', 168).tally.requests).toBe(0);
  again.answered('w1', 'internal', 1, undefined);
  expect(again.dump()).toHaveLength(1);
});

test('a damaged file is told of, and the count begins anew', async () => {
  writeFileSync(join(folder, SLO_FILE), '[[1,"w1",{"requests":-1}]]', { mode: 0o600 });
  const faults: unknown[] = [];
  const slo = createSloWindow({ now: () => HOUR_MS });
  const kept = keepSlo(folderFiles(folder), slo, { now: () => HOUR_MS }, (error) => faults.push(error));
  expect(faults).toHaveLength(1);
  slo.answered('w1', 'internal', 1, undefined);
  await kept.close();
  expect(JSON.parse(readFileSync(join(folder, SLO_FILE), 'utf8'))).toHaveLength(1);
});
