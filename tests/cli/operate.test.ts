import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { createClient } from '@parley/client';
import { beforeAll, expect, test } from 'vitest';

import { freshPath, issueToken, parley, parleyJson, startHub, type TestHub } from './parley.ts';

interface Doctor {
  ok: boolean;
  integrity: string;
  chain: string;
  index: string;
  counts: Record<string, number>;
  checks: { name: string; ok: boolean; detail: string }[];
}

let hub: TestHub;
let thread: string;
beforeAll(async () => {
  hub = await startHub();
  thread = await said(hub, 'kept', ['one', 'two', 'three']);
});

/** A thread of a person, with these messages. */
async function said({ url, data }: TestHub, title: string, bodies: readonly string[]): Promise<string> {
  const person = createClient({ url, token: await issueToken(data, 'kim', 'operator') });
  const { thread_id } = await person.create_thread({ title });
  for (const body of bodies) await person.post_message({ thread_id, schema_version: 1, body });
  return thread_id;
}

/** Posts as fast as it can until it is told to stop; gives back how many were acknowledged. */
async function keepPosting(stop: AbortSignal): Promise<number> {
  const token = await issueToken(hub.data, 'writer', 'operator');
  let count = 0;
  while (!stop.aborted) {
    const response = await fetch(`${hub.url}/v1/post_message`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ thread_id: thread, schema_version: 1, body: `busy ${count}` }),
    });
    if (response.status === 200) count++;
    else await response.text();
  }
  return count;
}

test('doctor reads the whole record, with the hub running', async () => {
  const report = await parleyJson<Doctor>(['doctor', '--data', hub.data]);
  expect(report).toMatchObject({
    ok: true,
    integrity: 'ok',
    chain: 'ok',
    index: 'ok',
    counts: { threads: 1, messages: 3 },
  });
  const names = report.checks.map(({ name }) => name);
  for (const name of ['node', 'sqlite', 'folder', 'files', 'disk', 'key', 'chain', 'hub', 'codex', 'claude'])
    expect(names).toContain(name);
  expect(report.checks.find(({ name }) => name === 'hub')?.detail).toContain(hub.url);
});

test('doctor works before the first start and makes nothing', async () => {
  const data = freshPath();
  expect(await parleyJson<Doctor>(['doctor', '--data', data])).toMatchObject({
    ok: true,
    counts: { entries: 0 },
  });
  expect(existsSync(data)).toBe(false);
});

test('doctor names open modes and leaves them as they are', async () => {
  const data = freshPath();
  await issueToken(data, 'a');
  chmodSync(data, 0o755);
  chmodSync(join(data, 'auth.json'), 0o644);
  const { code, stdout } = await parley(['doctor', '--json', '--data', data]);
  expect(code).toBe(1);
  const { ok, checks } = JSON.parse(stdout) as Doctor;
  expect(ok).toBe(false);
  expect(checks.filter((check) => !check.ok).map(({ name }) => name)).toEqual(['folder', 'files']);
  // The first has changed nothing.
  const plain = await parley(['doctor', '--data', data]);
  expect(plain.stdout).toContain('auth.json has mode 0644 instead of 0600');
});

test('doctor names a key that is about to be refused', async () => {
  const data = freshPath();
  await issueToken(data, 'a');
  const path = join(data, 'auth.json');
  const file = JSON.parse(readFileSync(path, 'utf8')) as { keys: { created_at: string }[] };
  for (const key of file.keys) key.created_at = new Date(Date.now() - 85 * 86_400_000).toISOString();
  writeFileSync(path, JSON.stringify(file));
  const { code, stdout } = await parley(['doctor', '--data', data]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/BAD\s+key\s+\S+ \(own\) 85 days old, refused from day 90 on: parley key add/);
});

test('doctor finds a changed entry, and a hub that was killed needs no hand', async () => {
  const other = await startHub();
  await said(other, 'x', ['what was said']);
  await other.stop('SIGKILL');
  expect((await parley(['doctor', '--data', other.data])).code).toBe(0);
  const again = await startHub(other.data);
  await again.stop();
  expect(readdirSync(other.data).filter((name) => name.startsWith('parley.db'))).toEqual(['parley.db']);
  const path = join(other.data, 'parley.db');
  const bytes = readFileSync(path);
  const at = bytes.indexOf('what was said');
  expect(at).toBeGreaterThan(0);
  bytes.write('what I wanted', at);
  writeFileSync(path, bytes);
  const { code, stdout } = await parley(['doctor', '--json', '--data', other.data]);
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, chain: 'broken' });
});

test('export is the whole record of one moment, while the hub writes', async () => {
  const stop = new AbortController();
  const posting = keepPosting(stop.signal);
  const file = freshPath('record.ndjson');
  const written = await parleyJson<{ lines: number }>(['export', '--out', file, '--data', hub.data]);
  stop.abort();
  await posting;
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(written.lines);
  const [head, ...rest] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  const reported = rest.filter(({ type }) => type === 'entry');
  const entries = reported.map(({ entry }) => entry as { seq: number });
  expect(reported.map(({ workspace_id, pos }) => [workspace_id, pos])).toEqual(
    entries.map((_, i) => ['default', i + 1]),
  );
  expect(head).toMatchObject({ type: 'parley.export', version: 2, entries: entries.length });
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await parley(['export', '--out', file, '--data', hub.data])).code).toBe(1);
  const { stdout } = await parley(['export', '--data', hub.data]);
  expect(stdout.split('\n')[0]).toContain('"parley.export"');
  expect((await parley(['export', '--data', freshPath()])).code).toBe(3);
});

test('a backup taken while the hub writes is private, sound, and starts as a hub with the same tokens', async () => {
  const stop = new AbortController();
  const posting = keepPosting(stop.signal);
  const folder = freshPath('backup');
  const { counts } = await parleyJson<{ counts: { messages: number } }>([
    'backup',
    folder,
    '--data',
    hub.data,
  ]);
  stop.abort();
  await posting;
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(readdirSync(folder).toSorted()).toEqual(['auth.json', 'parley.db']);
  for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  const token = await issueToken(hub.data, 'reader', 'operator');
  const restored = await startHub(folder);
  const read = await parley(['read', thread, '--limit', '100000', '--json', '--data', freshPath()], {
    env: { PARLEY_URL: restored.url, PARLEY_TOKEN: token },
  });
  const { messages } = JSON.parse(read.stdout) as { messages: { seq: number; body: string }[] };
  expect(messages).toHaveLength(counts.messages);
  expect(messages.slice(0, 3).map(({ body }) => body)).toEqual(['one', 'two', 'three']);
  await parleyJson(['post', thread, 'life goes on', '--data', folder]);
  expect(await parleyJson<Doctor>(['doctor', '--data', folder])).toMatchObject({ ok: true });
  await restored.stop();
});

test('a backup goes nowhere where something is, and leaves nothing behind when it fails', async () => {
  const folder = freshPath('there');
  mkdirSync(folder);
  expect((await parley(['backup', folder, '--data', hub.data])).code).toBe(1);
  expect(readdirSync(folder)).toEqual([]);
  expect((await parley(['backup', join(folder, 'no', 'such'), '--data', hub.data])).code).toBe(3);
  expect((await parley(['backup', join(folder, 'x'), '--data', freshPath()])).code).toBe(3);
  expect(readdirSync(folder)).toEqual([]);
});
