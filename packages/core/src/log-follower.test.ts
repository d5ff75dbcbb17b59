import { randomUUID } from 'node:crypto';

import type { Caller } from '@parley/protocol';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { createFeed, type Feed } from './feed.ts';
import { createIndexFollower } from './knowledge/index-follower.ts';
import type { DocumentIndex, IndexedDocument, MessageIndex } from './knowledge/library.ts';
import type { LogFollower } from './log-follower.ts';
import { createMessageFollower } from './messages/message-follower.ts';
import { type Desk, openDesk } from './sample-desk.ts';
import type { Store } from './store.ts';
import { openMemoryStore } from './store-memory.ts';

const clock = { now: () => Date.now(), monotonic: () => performance.now(), trusted: () => Date.now() };
const LONG = 20_000;

/** An index that only remembers, may be out of order, and may lose everything. */
function createIndex() {
  const kept = new Map<string, IndexedDocument>();
  const nameOf = (workspace_id: string, id: string): string => `${workspace_id} ${id}`;
  let place: number | undefined;
  const index = {
    kept,
    fault: undefined as string | undefined,
    calls: 0,
    forgotten: [] as string[],
    lose(): void {
      kept.clear();
      place = undefined;
    },
    get reached() {
      return place;
    },
    bodies: (): string[] => [...kept.values()].map(({ body }) => body).toSorted(),
    async place() {
      index.calls += 1;
      if (index.fault !== undefined) throw new Error(index.fault);
      return place;
    },
    async workspaces() {
      return [...new Set([...kept.values()].map(({ workspace_id }) => workspace_id))];
    },
    async known(workspace_id: string) {
      return [...kept.values()].filter((one) => one.workspace_id === workspace_id);
    },
    async apply(
      puts: readonly IndexedDocument[],
      drops: readonly { workspace_id: string; document_id: string }[],
      next?: number,
    ) {
      index.calls += 1;
      if (index.fault !== undefined) throw new Error(index.fault);
      for (const { workspace_id, document_id } of drops) kept.delete(nameOf(workspace_id, document_id));
      for (const one of puts) kept.set(nameOf(one.workspace_id, one.document_id), one);
      place = next ?? place;
    },
    async forget(workspace_id: string) {
      index.forgotten.push(workspace_id);
    },
    async dropBefore(revision: number) {
      for (const [name, one] of kept) if (one.revision < revision) kept.delete(name);
    },
  };
  return index satisfies DocumentIndex & MessageIndex;
}

let store: Store;
let feed: Feed;
let desk: Desk;
let index: ReturnType<typeof createIndex>;
let follower: LogFollower;
let faults: string[] = [];
const onFault = (error: unknown): void => void faults.push(String(error));
const caller = (agent_id: string, workspace_id = 'w'): Caller => ({
  agent_id,
  workspace_id,
  role: 'operator',
  session_id: 's',
});

beforeEach(() => {
  store = openMemoryStore();
  feed = createFeed();
  desk = openDesk(store, { now: Date.now() }, feed);
  index = createIndex();
  faults = [];
});
afterEach(() => follower.close());

describe('the follower of documents', () => {
  const open = (): LogFollower => createIndexFollower({ store, feed, clock, index, onFault });
  beforeEach(() => {
    follower = open();
  });

  async function write(body: string, workspace = 'w', parent_id = 'root'): Promise<string> {
    const document_id = randomUUID();
    const content = { mime_type: 'text/plain', body };
    const input = { document_id, parent_id, content, metadata: { title: 't' } };
    await desk.call(caller('ed', workspace), 'create_document', input);
    return document_id;
  }

  test('[KNOW-17] without a document the index is not opened; the first one is there at once', async () => {
    follower.start();
    expect(await follower.caughtUp(LONG)).toBe(true);
    expect(index.calls).toBe(0);
    await write('one');
    expect(await follower.caughtUp(LONG)).toBe(true);
    expect(index.bodies()).toEqual(['one']);
  });

  test('[KNOW-17] what is changed, deleted and restored is followed, each in its workspace', async () => {
    follower.start();
    const document_id = await write('one');
    const child = await write('below', 'w', document_id);
    await write('other', 'w2');
    const patch = { content: { body: 'two' } };
    const ed = caller('ed');
    await desk.call(ed, 'update_document', { document_id, patch, update_mask: ['content.body'] });
    expect(await follower.caughtUp(LONG)).toBe(true);
    expect(index.bodies()).toEqual(['below', 'other', 'two']);
    await desk.call(ed, 'delete_document', { document_id });
    expect(await follower.caughtUp(LONG)).toBe(true);
    expect(index.bodies()).toEqual(['other']);
    await desk.call(ed, 'restore_document', { document_id });
    expect(await follower.caughtUp(LONG)).toBe(true);
    expect([...index.kept.keys()].toSorted()).toContain(`w ${child}`);
  });

  test('[KNOW-17] it goes on where it stopped, and an index that knows nothing gets everything', async () => {
    follower.start();
    await write('one');
    await follower.caughtUp(LONG);
    await follower.close();
    const before = index.reached;
    await write('two');
    follower = open();
    follower.start();
    expect(await follower.caughtUp(LONG)).toBe(true);
    await vi.waitFor(() => expect(index.bodies()).toEqual(['one', 'two']), LONG);
    expect(index.reached).toBeGreaterThan(before ?? Infinity);
    await follower.close();
    index.lose();
    // What the index holds of what is not there goes.
    index.kept.set('w gone', {
      ...([...index.kept.values()][0] as IndexedDocument),
      workspace_id: 'w',
      document_id: 'gone',
    });
    follower = open();
    follower.start();
    await vi.waitFor(() => expect(index.bodies()).toEqual(['one', 'two']), LONG);
    expect(index.kept.has('w gone')).toBe(false);
  });

  test('[KNOW-17] an index out of order is told of once and caught up with; one that lost everything is filled again', async () => {
    follower.start();
    await write('one');
    await follower.caughtUp(LONG);
    index.fault = 'the index is away';
    await write('two');
    expect(await follower.caughtUp(0)).toBe(false);
    const calls = index.calls;
    await vi.waitFor(() => expect(index.calls).toBeGreaterThan(calls + 1), LONG);
    expect(faults).toEqual(['Error: the index is away']);
    index.fault = undefined;
    expect(await follower.caughtUp(LONG)).toBe(true);
    expect(index.bodies()).toEqual(['one', 'two']);
    index.lose();
    follower.again();
    expect(await follower.caughtUp(LONG)).toBe(true);
    expect(index.bodies()).toEqual(['one', 'two']);
  });
});

describe('the follower of messages', () => {
  const open = (keep = 1_000): LogFollower =>
    createMessageFollower({ store, feed, clock, index, keep, onFault });

  async function say(...bodies: string[]): Promise<void> {
    const made = await desk.call(caller('ann'), 'create_thread', { title: 't', participants: ['bob'] });
    const { thread_id } = made as { thread_id: string };
    for (const body of bodies)
      await desk.call(caller('ann'), 'post_message', { thread_id, body, kind: 'chat', schema_version: 1 });
  }

  test('[HUB-M10] messages alone are taken, by their thread, and nothing before it was started', async () => {
    follower = open();
    await say('one', '  ', 'two');
    expect(index.calls).toBe(0);
    follower.start();
    await vi.waitFor(() => expect(index.bodies()).toEqual(['one', 'two']), LONG);
    const [first] = index.kept.values();
    expect(first).toMatchObject({ workspace_id: 'w', document_id: `${first?.group} 1` });
    await say('three');
    expect(await follower.caughtUp(LONG)).toBe(true);
    expect(index.bodies()).toEqual(['one', 'three', 'two']);
  });

  test('a full page is no moment of rest: what comes faster than a page in a rest is taken all the same', async () => {
    follower = open(10_000);
    await say('first');
    follower.start();
    await vi.waitFor(() => expect(index.bodies()).toEqual(['first']), LONG);
    const made = await desk.call(caller('ann'), 'create_thread', { title: 't' });
    const { thread_id } = made as { thread_id: string };
    const post = (body: string): Promise<unknown> =>
      desk.call(caller('ann'), 'post_message', { thread_id, body, kind: 'chat', schema_version: 1 });
    await Promise.all(Array.from({ length: 4_000 }, (_, i) => post(`m${i}`)));
    const started = performance.now();
    await vi.waitFor(() => expect(index.kept.size).toBe(4_001), LONG);
    // Twenty pages and more: with a rest after each it would take five seconds.
    expect(performance.now() - started).toBeLessThan(2_500);
  });

  test('[HUB-M10] no more than the newest are kept, also when it starts late', async () => {
    await say(...Array.from({ length: 30 }, (_, i) => `m${i}`));
    follower = open(10);
    follower.start();
    await vi.waitFor(() => expect(index.bodies()).toContain('m29'), LONG);
    expect(index.kept.size).toBeLessThanOrEqual(10);
    await say(...Array.from({ length: 30 }, (_, i) => `n${i}`));
    expect(await follower.caughtUp(LONG)).toBe(true);
    expect(index.bodies()).toContain('n29');
    expect(index.kept.size).toBeLessThanOrEqual(12);
  });
});
