import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, expect, test } from 'vitest';

import { sqliteModule } from '../../packages/sqlite/src/index.ts';
import { checkRecord } from '../../packages/store-sqlite/src/index.ts';
import { runCli } from '../harness/run-cli.ts';
import { type CrashHub, startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { clientOf, createThread, type HubClient, ok, post } from './hub-client.ts';

const PATIENCE_MS = 60_000;
const DOCUMENTS = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'] as const;

interface Scene {
  folder: string;
  main: string;
  side: string;
  message: string;
  /** What the hub answered before anybody touched its folder. */
  truth: Record<string, string>;
}

const root = mkdtempSync(join(tmpdir(), 'parley-derived-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
let scene: Promise<Scene> | undefined;

/** A folder in which everything that follows from the log has some rows, made once. */
async function build(): Promise<Scene> {
  const folder = join(root, 'sound');
  const hub = await startHub(folder);
  const { alice, bob, opal } = await people(hub);
  const main = await createThread(alice, ['bob']);
  const { message_id: message } = ok(await post(alice, main, 'the zebra crossed the river'));
  for (let i = 0; i < 12; i++) ok(await post(i % 2 === 0 ? bob : alice, main, `zebra number ${i}`));
  ok(await alice.call('ack_read', { thread_id: main, last_read_seq: 5 }));
  const aside = { thread_id: main, title: 'aside', purpose: 'detail', participants: [] };
  const { thread_id: side } = ok(await alice.call<{ thread_id: string }>('open_side_channel', aside));
  ok(await post(alice, side, 'a zebra beside'));
  ok(
    await opal.call('control_thread', { thread_id: main, control: { invite: { participant_id: 'carol' } } }),
  );
  ok(
    await opal.call('control_thread', {
      thread_id: main,
      control: { mute: { targets: ['carol'], for_seconds: 86_400 } },
    }),
  );
  const { ask } = ok(await bob.call<{ ask: { ask_id: string } }>('raise_ask', { prompt: 'may I?' }));
  ok(await opal.call('answer_ask', { ask_id: ask.ask_id, decision: 'approved' }));
  ok(await bob.call('raise_ask', { prompt: 'and this?' }));
  for (const [i, document_id] of DOCUMENTS.entries())
    ok(
      await opal.call('create_document', {
        document_id,
        parent_id: i === 0 ? 'root' : DOCUMENTS[0],
        content: { mime_type: 'text/markdown', body: `# Page ${i}\n\nSee [[page 0]].` },
        metadata: { title: `page ${i}` },
      }),
    );
  const patch = { metadata: { title: 'page one' } };
  ok(
    await opal.call('update_document', { document_id: DOCUMENTS[1], patch, update_mask: ['metadata.title'] }),
  );
  const truth = await answers(hub, { main, side, message });
  await hub.end('SIGTERM');
  return { folder, main, side, message, truth };
}

async function people({ url, folder }: CrashHub): Promise<Record<'alice' | 'bob' | 'opal', HubClient>> {
  const as = async (name: string, role?: string): Promise<HubClient> =>
    clientOf(url, name, await tokenFor(folder, name, role === undefined ? {} : { role }));
  return { alice: await as('alice'), bob: await as('bob'), opal: await as('opal', 'operator') };
}

/** Every answer that rests on what follows from the log, as text. */
async function answers(
  hub: CrashHub,
  { main, side, message }: Pick<Scene, 'main' | 'side' | 'message'>,
): Promise<Record<string, string>> {
  const { alice, bob, opal } = await people(hub);
  const reported: Record<string, string> = {};
  const ask = async (who: HubClient, name: string, input: object): Promise<void> => {
    const answer = await who.call(name, input);
    reported[`${who.agent} ${name} ${JSON.stringify(input)}`] = JSON.stringify(answer.body).replaceAll(
      hub.url,
      '',
    );
  };
  for (const who of [alice, bob, opal]) {
    await ask(who, 'list_threads', {});
    await ask(who, 'list_threads', { unread: true });
    for (const thread_id of [main, side]) {
      await ask(who, 'get_thread', { thread_id });
      await ask(who, 'read_messages', { thread_id, since_seq: 0 });
    }
    await ask(who, 'get_message', { thread_id: main, message_id: message });
    await ask(who, 'list_asks', { status: 'all' });
    await ask(who, 'list_documents', { parent_id: 'root' });
    for (const document_id of DOCUMENTS) {
      await ask(who, 'get_document', { document_id });
      await ask(who, 'get_document_history', { document_id });
      await ask(who, 'get_document_links', { document_id });
    }
    const search = () => who.call<{ complete: boolean }>('search_messages', { query: 'zebra' });
    await expect.poll(async () => ok(await search()).complete, { timeout: 20_000 }).toBe(true);
    await ask(who, 'search_messages', { query: 'zebra' });
  }
  expect(Object.values(reported).filter((text) => text.startsWith('{"error"'))).toEqual([]);
  return reported;
}

async function changedCopy(sql: string): Promise<Scene> {
  const sound = await (scene ??= build());
  const folder = temporaryFolder();
  cpSync(sound.folder, folder, { recursive: true });
  const db = new (sqliteModule().DatabaseSync)(join(folder, 'parley.db'));
  db.enableDefensive(false);
  db.exec(`PRAGMA foreign_keys = OFF; ${sql}`);
  db.close();
  return { ...sound, folder };
}

interface Report {
  ok: boolean;
  index: string;
  problems: string[];
  rebuilt?: string[];
}

async function doctor(
  folder: string,
  ...args: string[]
): Promise<Report & { code: number | null; stderr: string }> {
  const { code, stdout, stderr } = await runCli(['doctor', '--json', ...args], { data: folder });
  return { ...(JSON.parse(stdout) as Report), code, stderr };
}

const TREE = "kind IN ('document', 'branch', 'name', 'link', 'revision')";

test.each([
  ['heads and participants', ['threads'], 'DELETE FROM heads; DELETE FROM participants'],
  ['threads', ['threads'], 'DELETE FROM threads'],
  [
    'states and documents',
    ['threads', 'records'],
    `UPDATE threads SET state = replace(state, 'faults', 'forged');
     UPDATE records SET json = replace(json, 'page one', 'page two') WHERE ${TREE}`,
  ],
  ['documents, asks and mutes', ['records'], `DELETE FROM records WHERE ${TREE} OR kind IN ('ask', 'mutes')`],
  ['words', ['index'], "INSERT INTO search (search) VALUES ('delete-all')"],
])(
  '%s that are gone or altered while the hub was down: the next start makes them anew and says so, and every answer is as before',
  async (_what, parts, sql) => {
    const { folder, truth, ...places } = await changedCopy(sql);
    expect(checkRecord(folder)).toMatchObject({ ok: false, index: 'differs' });
    const hub = await startHub(folder);
    const { opal } = await people(hub);
    // An index of words that is not whole yet never says that it looked at everything.
    const found = await opal.call<{ complete: boolean; hits: unknown[] }>('search_messages', {
      query: 'zebra',
    });
    expect(ok(found).complete).toBe(ok(found).hits.length > 0);
    expect(await answers(hub, places)).toEqual(truth);
    expect(ok(await opal.call('describe_hub', {}))).toMatchObject({ writable: true, rebuilt: parts });
    expect((await hub.end('SIGTERM')).stderr).toContain('rebuilt from the log');
    expect(checkRecord(folder)).toMatchObject({ ok: true, problems: [] });
  },
  PATIENCE_MS,
);

test(
  'parley doctor --repair makes all of it anew at once, tells what it does, and waits for the hub to be stopped',
  async () => {
    const { folder, truth, ...places } = await changedCopy(
      `DELETE FROM heads; DELETE FROM participants; DELETE FROM threads; DELETE FROM records WHERE ${TREE} OR kind = 'ask'; DROP TABLE search`,
    );
    const found = await doctor(folder);
    expect(found).toMatchObject({ code: 1, ok: false, index: 'differs' });
    expect(found.problems.length).toBeGreaterThan(3);
    const repaired = await doctor(folder, '--repair');
    expect(repaired.ok).toBe(repaired.problems.length === 0);
    expect(repaired).toMatchObject({ index: 'ok' });
    expect(repaired.rebuilt).toHaveLength(3);
    expect(repaired.stderr).toContain('made anew from the log');
    const hub = await startHub(folder);
    expect(await answers(hub, places)).toEqual(truth);
    const status = await runCli(['status', '--json'], { data: folder });
    expect(JSON.parse(status.stdout)).toMatchObject({ store: { writable: true, rebuilt: [] } });
    const refused = await runCli(['doctor', '--repair'], { data: folder });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('stop it, then repair') as string,
    });
    expect((await hub.end('SIGTERM')).stderr).not.toContain('rebuilt from the log');
  },
  PATIENCE_MS,
);

test(
  'what follows from nothing else is missed by name, and not said to be nowhere',
  async () => {
    const { folder } = await changedCopy("DELETE FROM cursors; DELETE FROM records WHERE kind = 'content'");
    const missed = ['the cursors: 0 are there', 'the records of kind content: 0 are there'];
    for (const text of missed) expect(checkRecord(folder).problems.join('; ')).toContain(text);
    const hub = await startHub(folder);
    const { opal } = await people(hub);
    const { body } = await opal.call('get_document', { document_id: DOCUMENTS[0] });
    expect(body).toMatchObject({
      error: { code: 'INTERNAL', message: expect.stringContaining('parley doctor') },
    });
    const { stderr } = await hub.end('SIGTERM');
    for (const text of missed) expect(stderr).toContain(text);
  },
  PATIENCE_MS,
);
