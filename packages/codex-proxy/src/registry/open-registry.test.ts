import {
  fstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import { openRegistry } from './open-registry.ts';
import type { SessionRecord } from './session-record.ts';

let path: string;
let warnings: string[];
beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'atm-registry-')), 'blue', 'codex', 'registry.json');
  warnings = [];
});
afterEach(() => rmSync(dirname(dirname(dirname(path))), { recursive: true, force: true }));

const open = () =>
  openRegistry(
    path,
    (level, message) => warnings.push(`${level} ${message}`),
    () => new Date(0),
  );
const onDisk = () => JSON.parse(readFileSync(path, 'utf8')) as { sessions: SessionRecord[] };

const record = (n: number, more: Partial<SessionRecord> = {}): SessionRecord => ({
  agent_id: `codex:${n}`,
  backend: 'codex',
  backend_id: `thread-${n}`,
  identity: `dev-${n}`,
  team: 'blue',
  repo_root: '/w',
  repo_name: 'w',
  branch: 'main',
  cwd: '/w',
  started_at: '2026-01-01T00:00:00.000Z',
  last_active: '2026-01-01T00:00:00.000Z',
  status: 'idle',
  tag: null,
  ...more,
});

test('[FR-5.1] [FR-5.2] [FR-5.5] each change is on disk, whole, and for the user alone', async () => {
  const registry = await open();
  registry.put(record(1));
  registry.put(record(2));
  registry.put({ ...record(1), status: 'closed' });
  await registry.saved();
  expect(onDisk().sessions).toEqual([record(1, { status: 'closed' }), record(2)]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(path))).toEqual(['registry.json']);
});

test('[FR-5.5] what is saved is synced, the file before its name', async () => {
  const registry = await open();
  const handle = await openFile(tmpdir(), 'r');
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const sync = Reflect.get(handles, 'sync');
  const synced: number[] = [];
  const spy = vi.spyOn(handles, 'sync').mockImplementation(function (this: FileHandle) {
    synced.push(fstatSync(this.fd).ino);
    return sync.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  registry.put(record(1));
  await registry.saved();
  expect(synced.slice(-2)).toEqual([statSync(path).ino, statSync(dirname(path)).ino]);
});

test('what may be written soon is written once with what follows, at once when it is asked for or something else is put', async () => {
  const registry = await open();
  registry.put(record(1));
  await registry.saved();
  const written = () => onDisk().sessions.map(({ agent_id, status }) => [agent_id, status]);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const before = statSync(path).ino;
  for (const status of ['busy', 'idle', 'busy'] as const) registry.put(record(1, { status }), 'soon');
  // As long as another takes to write.
  const other = await openRegistry(
    `${path}.other`,
    () => {},
    () => new Date(0),
  );
  other.put(record(9));
  await other.saved();
  expect(statSync(path).ino).toBe(before);
  vi.runAllTimers();
  vi.useRealTimers();
  await vi.waitFor(() => expect(written()).toEqual([['codex:1', 'busy']]), { timeout: 60_000 });
  registry.put(record(1, { status: 'idle' }), 'soon');
  registry.put(record(2));
  await registry.saved();
  expect(written()).toEqual([
    ['codex:1', 'idle'],
    ['codex:2', 'idle'],
  ]);
  registry.put(record(2, { status: 'busy' }), 'soon');
  await registry.saved();
  expect(written()[1]).toEqual(['codex:2', 'busy']);
});

test('[FR-6.3] a session that is taken up again is on disk as that at once: its end before tells nothing any more', async () => {
  const registry = await open();
  registry.put(record(1, { status: 'interrupted' }));
  await registry.saved();
  // Nothing that is written soon is written.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  registry.put(record(1, { status: 'busy' }), 'soon');
  for (let i = 0; i < 2_000 && onDisk().sessions[0]?.status !== 'busy'; i++)
    await new Promise((resolve) => setImmediate(resolve));
  expect(onDisk().sessions[0]?.status).toBe('busy');
});

test('labels of an older version are without secrets too, and stay so', async () => {
  mkdirSync(dirname(path), { recursive: true });
  const old = record(1, { tag: 'use sk-abcdefghijklmnopqrst', status: 'busy' });
  writeFileSync(path, JSON.stringify({ version: 1, sessions: [old] }));
  const registry = await open();
  expect(registry.get('codex:1')?.tag).toBe('use [redacted]');
  registry.put({ ...old, status: 'closed' });
  await registry.saved();
  expect(readFileSync(path, 'utf8')).not.toContain('sk-abc');
});

test('[FR-3.2] what was active is stale after a start, what had ended stays as it was', async () => {
  const before = await open();
  before.put(record(1, { status: 'busy' }));
  before.put(record(2));
  before.put(record(3, { status: 'closed' }));
  before.put(record(4, { status: 'interrupted' }));
  await before.saved();
  const after = await open();
  expect(after.list().map(({ status }) => status)).toEqual(['interrupted', 'closed', 'stale', 'stale']);
  expect(onDisk().sessions.map(({ status }) => status)).toEqual(['stale', 'stale', 'closed', 'interrupted']);
});

test('fields of another version are kept', async () => {
  mkdirSync(dirname(path), { recursive: true });
  const session = { ...record(1), colour: 'red' };
  writeFileSync(path, JSON.stringify({ version: 1, note: 'mine', sessions: [session] }));
  const registry = await open();
  registry.put(record(1, { status: 'busy' }));
  await registry.saved();
  expect(onDisk()).toEqual({ version: 1, note: 'mine', sessions: [{ ...session, status: 'busy' }] });
});

describe('a file that cannot be understood is set aside and told', () => {
  test.each([
    ['empty', ''],
    ['cut', '{"version":1,"sessions":[{"agent_id":"co'],
    ['garbage', '\u0000\u0001 nothing'],
    ['of a newer version', '{"version":2,"sessions":[]}'],
    ['of another shape', '{"version":1,"sessions":[{"agent_id":7}]}'],
  ])('[C-PROXY-31] %s', async (_what, text) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    const registry = await open();
    expect(registry.list()).toEqual([]);
    expect(warnings).toEqual(['warn the registry could not be understood and was set aside']);
    registry.put(record(1));
    await registry.saved();
    const aside = readdirSync(dirname(path)).find((name) => name.includes('damaged'));
    expect(readFileSync(join(dirname(path), aside ?? ''), 'utf8')).toBe(text);
  });
});

test('a disk that takes nothing is told, and writing goes on when it does again', async () => {
  const registry = await open();
  registry.put(record(1));
  await registry.saved();
  rmSync(dirname(path), { recursive: true });
  writeFileSync(dirname(path), 'in the way');
  registry.put(record(2));
  await registry.saved();
  expect(registry.failure()).toBeDefined();
  rmSync(dirname(path));
  registry.put(record(3));
  await registry.saved();
  expect(registry.failure()).toBeUndefined();
  expect(onDisk().sessions).toHaveLength(3);
});

test('ended sessions are forgotten one day, active ones never', async () => {
  const registry = await open();
  registry.put(record(0));
  for (let n = 1; n <= 1_005; n++) registry.put(record(n, { status: 'closed' }));
  expect(registry.list()).toHaveLength(1_001);
  expect(registry.get('codex:0')).toBeDefined();
  expect(registry.get('codex:5')).toBeUndefined();
  await registry.saved();
});
