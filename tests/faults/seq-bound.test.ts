import { join } from 'node:path';

import { CHAIN_START, type Entry, seal } from '@parley/core';
import { entryUlid, messageId } from '@parley/protocol';
import { expect, test } from 'vitest';

import { sumOfHead } from '@parley/store-rows';
import { sqliteModule } from '../../packages/store-sqlite/src/sqlite.ts';
import { startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { clientOf, createThread, ok, post, readAll } from './hub-client.ts';

const LAST = 9_007_199_254_740_990;

/** Moves a thread's two messages to the end of what a seq can be, with a chain that fits. */
function moveToTheEnd(folder: string): void {
  const db = new (sqliteModule().DatabaseSync)(join(folder, 'parley.db'));
  db.exec('DROP TRIGGER entries_never_change');
  const rows = db.prepare('SELECT pos, thread, json FROM entries WHERE seq > 0 ORDER BY seq').all() as {
    pos: number;
    thread: number;
    json: string;
  }[];
  let head = CHAIN_START;
  for (const [i, { pos, thread, json }] of rows.entries()) {
    const entry = JSON.parse(json) as Entry;
    const seq = LAST - 1 + i;
    const moved = { ...entry, seq, message_id: messageId(entryUlid(Date.parse(entry.created_at), seq, 1)) };
    const sealed = seal(head, moved);
    head = sealed.hash;
    db.prepare('UPDATE entries SET seq = ?, hash = ?, json = ? WHERE pos = ?').run(
      seq,
      head,
      sealed.json,
      pos,
    );
    const { created_at } = entry;
    const run = { speaker: entry.sender_agent_id, run_seq: LAST - 1, run_nth: 1 };
    const sum = sumOfHead({ thread, last_seq: seq, updated_at: created_at, hash: head, ...run });
    db.prepare(
      'UPDATE heads SET last_seq = ?, updated_at = ?, hash = ?, speaker = ?, run_seq = ?, run_nth = ?, sum = ? WHERE thread = ?',
    ).run(seq, created_at, head, ...Object.values(run), sum, thread);
  }
  db.close();
}

test('[C-DUR-24] [R2] at the end of what a seq can be the last one is exact, and the next is refused', async () => {
  const folder = temporaryFolder();
  const first = await startHub(folder);
  const token = await tokenFor(folder, 'alice');
  const thread = await createThread(clientOf(first.url, 'alice', token));
  for (const body of ['one', 'two']) ok(await post(clientOf(first.url, 'alice', token), thread, body, body));
  await first.end('SIGTERM');
  moveToTheEnd(folder);

  const hub = await startHub(folder);
  const alice = clientOf(hub.url, 'alice', token);
  expect(ok(await post(alice, thread, 'last', 'last')).seq).toBe(LAST + 1);
  const full = {
    status: 409,
    body: { error: { code: 'CONFLICT', message: expect.stringContaining('full') } },
  };
  expect(await post(alice, thread, 'one too many', 'more')).toMatchObject(full);
  const resolve = {
    schema_version: 1,
    kind: 'event',
    body: 'done',
    metadata: { event_type: 'thread_resolved' },
  };
  expect((await alice.call('post_message', { thread_id: thread, ...resolve })).status).toBe(409);
  expect(ok(await post(alice, thread, 'last', 'last')).seq).toBe(LAST + 1);

  // The text on the wire, before any parser could round it.
  const url = `${hub.url}/v1/threads/${thread}/messages?since_seq=${LAST - 1}`;
  const page = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const text = await page.text();
  expect([...text.matchAll(/"seq":(\d+)/g)].map(([, seq]) => seq)).toEqual([
    '9007199254740990',
    '9007199254740991',
  ]);
  expect(text).toContain('"next_seq":9007199254740991,"has_more":false');
  expect(ok(await alice.call('get_thread', { thread_id: thread }))).toMatchObject({
    status: 'active',
    last_seq: LAST + 1,
  });
  ok(await alice.call('ack_read', { thread_id: thread, last_read_seq: LAST + 1 }));
  expect((await alice.call('ack_read', { thread_id: thread, last_read_seq: LAST })).status).toBe(400);
  await expect(readAll(alice, thread)).rejects.toThrow('damaged');
});
