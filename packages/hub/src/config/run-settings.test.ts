import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';

import { loadConfig } from './load.ts';
import { quickSettings } from './run-settings.ts';

const home = mkdtempSync(join(tmpdir(), 'parley-settings-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const base = { XDG_CONFIG_HOME: home, XDG_DATA_HOME: '/somewhere' };

const text = fc.constantFrom('', 'a', '/x/y', 'w 1');
const maybe = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 3 }, { arbitrary: value, weight: 1 });
const ms = fc.integer({ min: -1, max: 40 });
const flags = fc.record({
  data: maybe(text),
  workspace: maybe(text),
  'terminal.quiet_ms': maybe(ms),
  'terminal.recheck_ms': maybe(ms),
  'terminal.max_defer_ms': maybe(ms),
});
const environment = fc
  .record({
    ATM_HOME: maybe(text),
    PARLEY_DATA: maybe(text),
    PARLEY_WORKSPACE: maybe(text),
    PARLEY_AGENT: maybe(text),
    PARLEY_PORT: maybe(fc.constant('1')),
    PARLEY_TERMINAL_QUIET_MS: maybe(fc.constant('7')),
    PARLEY_NONSENSE: maybe(fc.constant('x')),
  })
  .map((env) => Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined)));

test('what is read quickly is what the whole schema makes of it, and what it refuses is left to it', () => {
  let quick = 0;
  fc.assert(
    fc.property(flags, environment, (given, extra) => {
      const env = { ...base, ...extra };
      const settings = quickSettings(given, env);
      if (settings === undefined) return;
      quick++;
      const { config, origins, file, strangers } = loadConfig(given, env);
      const { data, workspace, terminal, auth } = config;
      expect(settings).toMatchObject({ config: { data, workspace, terminal }, file, strangers });
      expect(auth).toMatchObject(settings.config.auth);
      for (const [path, origin] of settings.origins) expect(origins.get(path)).toBe(origin);
    }),
    { numRuns: 300 },
  );
  expect(quick).toBeGreaterThan(20);
});

test('where there is a file, or something else is set, the schema decides', () => {
  expect(quickSettings({}, base)).toBeDefined();
  expect(quickSettings({}, { ...base, PARLEY_PORT: '1' })).toBeUndefined();
  expect(quickSettings({}, { ...base, PARLEY_NONSENSE: 'x' })).toBeUndefined();
  expect(quickSettings({ 'terminal.recheck_ms': 1 }, base)).toBeUndefined();
  mkdirSync(join(home, 'parley'));
  writeFileSync(join(home, 'parley', 'config.toml'), 'port = 1\n');
  expect(quickSettings({}, base)).toBeUndefined();
});
