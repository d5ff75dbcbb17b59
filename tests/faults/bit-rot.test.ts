import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { fillRecord } from '../harness/fill-record.ts';
import { runCli } from '../harness/run-cli.ts';
import { startHub, temporaryFolder, tokenFor, tryHub } from './crash-hub.ts';
import { clientOf, createThread, type HubClient, ok, post } from './hub-client.ts';

const MESSAGES = 30;
const DAMAGED = 17;

interface Scene {
  folder: string;
  thread: string;
  token: string;
}

const root = mkdtempSync(join(tmpdir(), 'parley-bit-rot-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let scene: Promise<Scene> | undefined;

/** A hub that was killed with a thread of thirty messages, one of which can be found in the file by its text; made once. */
async function build(): Promise<Scene> {
  const folder = join(root, 'killed');
  const hub = await startHub(folder);
  const token = await tokenFor(folder, 'alice');
  const alice = clientOf(hub.url, 'alice', token);
  const thread = await createThread(alice);
  for (let seq = 1; seq <= MESSAGES; seq++) ok(await post(alice, thread, `unmistakable ${seq};`, `k${seq}`));
  const search = () =>
    alice.call<{ hits: unknown[] }>('search_messages', { query: `unmistakable ${MESSAGES}` });
  await expect.poll(async () => ok(await search()).hits.length).toBe(1);
  await hub.end('SIGKILL');
  return { folder, thread, token };
}

/** A copy of it, with its write-ahead log or closed well. */
async function copyOfScene(how: 'killed' | 'closed'): Promise<Scene> {
  const made = await (scene ??= build());
  const folder = temporaryFolder();
  cpSync(made.folder, folder, { recursive: true });
  if (how === 'closed') await fillRecord(folder, []);
  return { ...made, folder };
}

function flip(path: string, find: (bytes: Buffer) => number): void {
  const bytes = readFileSync(path);
  const at = find(bytes);
  expect(at).toBeGreaterThanOrEqual(0);
  bytes[at]! ^= 1;
  writeFileSync(path, bytes);
}

/** What `parley doctor` says; it ends with 1 when something is wrong. */
async function examine(folder: string): Promise<unknown> {
  const { code, stdout } = await runCli(['doctor', '--json'], { data: folder });
  expect(code).toBe(1);
  return JSON.parse(stdout);
}

function readFrom(client: HubClient, thread: string, since: number, limit: number) {
  return client.call<{ messages: unknown[] }>('read_messages', {
    thread_id: thread,
    since_seq: since,
    limit,
  });
}

test('[C-DUR-08] [R11] a flipped bit in a stored message: the place is named, the message is not served, the others are', async () => {
  const { folder, thread, token } = await copyOfScene('closed');
  flip(join(folder, 'parley.db'), (bytes) => bytes.indexOf(`unmistakable ${DAMAGED};`));

  const reported = expect.stringContaining(`${thread}: the chain breaks at seq ${DAMAGED}`) as string;
  expect(await examine(folder)).toMatchObject({
    ok: false,
    chain: 'broken',
    problems: expect.arrayContaining([reported]) as string[],
  });
  const exported = await runCli(['export'], { data: folder });
  expect(exported).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('1 entry is damaged') as string,
  });
  expect(exported.stdout.match(/"type":"entry"/g)).toHaveLength(MESSAGES);
  expect(exported.stdout.match(/"type":"damaged"/g)).toHaveLength(1);
  const revived = await startHub(folder);
  const alice = clientOf(revived.url, 'alice', token);
  const place = { code: 'INTERNAL', details: { thread_id: thread, seq: DAMAGED } };
  expect((await readFrom(alice, thread, 0, 200)).body).toMatchObject({ error: place });
  expect((await readFrom(alice, thread, DAMAGED - 1, 1)).body).toMatchObject({ error: place });
  const search = await alice.call('search_messages', { query: `unmistakable ${DAMAGED}` });
  expect(search.body).toMatchObject({ error: place });
  expect(ok(await readFrom(alice, thread, 0, DAMAGED - 1)).messages).toHaveLength(DAMAGED - 1);
  expect(ok(await readFrom(alice, thread, DAMAGED, 200)).messages).toHaveLength(MESSAGES - DAMAGED);
  expect((await revived.end('SIGTERM')).stderr).toContain(`${thread} is damaged at seq ${DAMAGED}`);
});

test('[C-DUR-08] [R11] a flipped bit in the structure of a page: the hub says so and does not start', async () => {
  const { folder } = await copyOfScene('closed');
  // The first byte of the page that holds the message says what kind of page it is.
  flip(
    join(folder, 'parley.db'),
    (bytes) => Math.floor(bytes.indexOf(`unmistakable ${DAMAGED};`) / 4_096) * 4_096,
  );
  expect(await tryHub(folder)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/damaged|malformed/),
  });
  expect(await examine(folder)).toMatchObject({ ok: false, integrity: 'damaged' });
});

test('[C-DUR-08] [R11] a flipped bit in the write-ahead log: the frame is named and nothing is dropped in silence', async () => {
  const { folder } = await copyOfScene('killed');
  flip(join(folder, 'parley.db-wal'), (bytes) => bytes.indexOf(`unmistakable ${DAMAGED};`));
  const refused = { code: 1, stdout: expect.stringMatching(/write-ahead log is damaged at frame \d+/) };
  expect(await tryHub(folder)).toMatchObject(refused);
  // Refusing has not destroyed what an expert may still need.
  expect(await tryHub(folder)).toMatchObject(refused);
  expect(await examine(folder)).toMatchObject({ ok: false, integrity: 'damaged' });
});
