import { randomUUID } from 'node:crypto';

import type { Caller } from '@parley/protocol';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { createFeed, type Feed } from './feed.ts';
import { createIndexFollower, type IndexFollower } from './knowledge/index-follower.ts';
import type {
  DocumentIndex,
  IndexedDocument,
  MessageIndex,
  RenumberedDocument,
} from './knowledge/library.ts';
import type { LogFollower } from './log-follower.ts';
import { createMessageFollower } from './messages/message-follower.ts';
import { type SampleHub, openSampleHub } from './sample-hub.ts';
import type { Store, WorkspaceHead } from './store.ts';
import { openMemoryStore } from './store-memory.ts';

const clock = { now: () => Date.now(), monotonic: () => performance.now(), trusted: () => Date.now() };
const LONG = 20_000;

/** An index that only remembers, may be out of order, and may lose everything. */
function createIndex() {
  const kept = new Map<string, IndexedDocument>();
  const nameOf = (workspace_id: string, id: string): string => `${workspace_id} ${id}`;
  const places = new Map<string, number>();
  const index = {
    kept,
    fault: undefined as string | undefined,
    calls: 0,
    forgotten: [] as string[],
    lose(): void {
      kept.clear();
      places.clear();
    },
    get reached() {
      return places.get('w');
    },
    bodies: (): string[] => [...kept.values()].map(({ body }) => body).toSorted(),
    async place(workspace_id: string) {
      index.calls += 1;
      if (index.fault !== undefined) throw new Error(index.fault);
      return places.get(workspace_id);
    },
    async workspaces() {
      return [...new Set([...kept.values()].map(({ workspace_id }) => workspace_id))];
    },
    levelled: 0,
    puts: [] as string[],
    async renumber(documents: readonly RenumberedDocument[]) {
      return documents.flatMap(({ workspace_id, document_id, was, version, revision }) => {
        const one = kept.get(nameOf(workspace_id, document_id));
        if (one?.version !== was) return [document_id];
        kept.set(nameOf(workspace_id, document_id), { ...one, version, revision });
        return [];
      });
    },
    async known(workspace_id: string) {
      index.levelled += 1;
      return [...kept.values()].filter((one) => one.workspace_id === workspace_id);
    },
    async apply(
      puts: readonly IndexedDocument[],
      drops: readonly { workspace_id: string; document_id: string }[],
      place?: WorkspaceHead,
    ) {
      index.calls += 1;
      if (index.fault !== undefined) throw new Error(index.fault);
      for (const { workspace_id, document_id } of drops) kept.delete(nameOf(workspace_id, document_id));
      index.puts.push(...puts.map(({ document_id }) => document_id));
      for (const one of puts) kept.set(nameOf(one.workspace_id, one.document_id), one);
      if (place !== undefined) places.set(place.workspace_id, place.pos);
    },
    async forget(workspace_id: string) {
      index.forgotten.push(workspace_id);
    },
    async dropBefore(workspace_id: string, revision: number) {
      for (const [name, one] of kept)
        if (one.workspace_id === workspace_id && one.revision < revision) kept.delete(name);
    },
  };
  return index satisfies DocumentIndex & MessageIndex;
}

let store: Store;
let feed: Feed;
let sample: SampleHub;
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
  sample = openSampleHub(store, { now: Date.now() }, feed);
  index = createIndex();
  faults = [];
});
afterEach(() => follower.close());

describe('the follower of documents', () => {
  let documents: IndexFollower;
  const open = (): LogFollower => (documents = createIndexFollower({ store, feed, clock, index, onFault }));
  beforeEach(() => {
    follower = open();
  });

  async function write(body: string, workspace = 'w', parent_id = 'root'): Promise<string> {
    const document_id = randomUUID();
    const content = { mime_type: 'text/plain', body };
    const input = { document_id, parent_id, content, metadata: { title: 't' } };
    await sample.call(caller('ed', workspace), 'create_document', input);
    return document_id;
  }

  test('[KNOW-17] without a document the index is not opened; the first one is there at once', async () => {
    void follower.start();
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect(index.calls).toBe(0);
    await write('one');
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect(index.bodies()).toEqual(['one']);
  });

  test('[KNOW-17] what is written while a page is read is taken too, also when a question hears of it first', async () => {
    void follower.start();
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    const workspace = store.workspace.bind(store);
    const held = new Promise<void>((resolve) => {
      store.workspace = async (query) => {
        store.workspace = workspace;
        const page = await store.workspace(query);
        // The page is of now; what comes next is not in it.
        await write('two');
        void follower.caughtUp('w', LONG).then(() => resolve());
        return page;
      };
    });
    await write('one');
    await held;
    expect(index.bodies()).toEqual(['one', 'two']);
  });

  test('[KNOW-17] what another process has written is taken before a question is answered, though no ring came', async () => {
    void follower.start();
    const document_id = await write('one');
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    const elsewhere = openSampleHub(store, { now: Date.now() }, createFeed());
    const patch = { content: { body: 'two' } };
    const change = { document_id, patch, update_mask: ['content.body'] };
    await elsewhere.call(caller('ed'), 'update_document', change);
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect(index.bodies()).toEqual(['two']);
  });

  test('[KNOW-17] a question about documents does not wait until all that was said since then is read', async () => {
    void follower.start();
    await write('one');
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    const made = await sample.call(caller('ann'), 'create_thread', { title: 't' });
    const { thread_id } = made as { thread_id: string };
    for (let i = 0; i < 3; i++)
      await sample.call(caller('ann'), 'post_message', { thread_id, body: 'x', schema_version: 1 });
    const workspace = vi.spyOn(store, 'workspace');
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect(workspace).not.toHaveBeenCalled();
  });

  test('[KNOW-17] what is changed, deleted and restored is followed, each in its workspace', async () => {
    void follower.start();
    const document_id = await write('one');
    const child = await write('below', 'w', document_id);
    await write('other', 'w2');
    const patch = { content: { body: 'two' } };
    const ed = caller('ed');
    await sample.call(ed, 'update_document', { document_id, patch, update_mask: ['content.body'] });
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect(await follower.caughtUp('w2', LONG)).toBe(true);
    expect(index.bodies()).toEqual(['below', 'other', 'two']);
    await sample.call(ed, 'delete_document', { document_id });
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect(index.bodies()).toEqual(['other']);
    await sample.call(ed, 'restore_document', { document_id });
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect([...index.kept.keys()].toSorted()).toContain(`w ${child}`);
  });

  test('[KNOW-16] [KNOW-17] a move, a deletion and a restore touch what they concern, and no text is read again that did not change', async () => {
    const ed = caller('ed');
    const top = await write('top');
    const [a, b] = [await write('a', 'w', top), await write('b', 'w', top)];
    const below = await write('below', 'w', a);
    const other = await write('other');
    void follower.start();
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    const find = (id: string) => index.kept.get(`w ${id}`);
    index.levelled = 0;
    index.puts.length = 0;
    const settle = async (
      operation: 'move_document' | 'delete_document' | 'restore_document',
      input: object,
    ) => {
      await sample.call(ed, operation, input);
      expect(await follower.caughtUp('w', LONG)).toBe(true);
    };
    await settle('move_document', { document_id: b, new_parent_id: 'root', position: { before: other } });
    await settle('move_document', { document_id: b, new_parent_id: top });
    expect([find(b)?.revision, index.puts]).toEqual([3, []]);
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    await settle('delete_document', { document_id: a, delete_at: soon });
    expect([find(a)?.revision, find(below)?.revision]).toEqual([2, 1]);
    await settle('restore_document', { document_id: a });
    expect([find(a)?.revision, index.puts]).toEqual([3, []]);
    await settle('delete_document', { document_id: a });
    expect(index.bodies()).toEqual(['b', 'other', 'top']);
    await settle('restore_document', { document_id: a });
    expect(index.puts.toSorted()).toEqual([a, below].toSorted());
    expect(index.bodies()).toEqual(['a', 'b', 'below', 'other', 'top']);
    expect(index.levelled).toBe(0);
  });

  test('[KNOW-15] [KNOW-17] what goes by its date is taken out of the index when a question meets it', async () => {
    const document_id = await write('one');
    void follower.start();
    const soon = new Date(Date.now() + 50).toISOString();
    await sample.call(caller('ed'), 'delete_document', { document_id, delete_at: soon });
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(Date.parse(soon)), LONG);
    documents.look('w', [document_id]);
    await vi.waitFor(() => expect(index.bodies()).toEqual([]), LONG);
  });

  test('[KNOW-17] it goes on where it stopped, and an index that knows nothing gets everything', async () => {
    void follower.start();
    await write('one');
    await follower.caughtUp('w', LONG);
    await follower.close();
    const before = index.reached;
    await write('two');
    follower = open();
    void follower.start();
    expect(await follower.caughtUp('w', LONG)).toBe(true);
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
    void follower.start();
    await vi.waitFor(() => expect(index.bodies()).toEqual(['one', 'two']), LONG);
    expect(index.kept.has('w gone')).toBe(false);
  });

  test('[KNOW-17] an index out of order is told of once and caught up with; one that lost everything is filled again', async () => {
    void follower.start();
    await write('one');
    await follower.caughtUp('w', LONG);
    index.fault = 'the index is away';
    await write('two');
    expect(await follower.caughtUp('w', 0)).toBe(false);
    const calls = index.calls;
    await vi.waitFor(() => expect(index.calls).toBeGreaterThan(calls + 1), LONG);
    expect(faults).toEqual(['Error: the index is away']);
    index.fault = undefined;
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect(index.bodies()).toEqual(['one', 'two']);
    index.lose();
    follower.again();
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect(index.bodies()).toEqual(['one', 'two']);
  });
});

describe('the follower of messages', () => {
  const open = (keep = 1_000): LogFollower =>
    createMessageFollower({ store, feed, clock, index, keep, onFault });

  async function say(...bodies: string[]): Promise<void> {
    const made = await sample.call(caller('ann'), 'create_thread', { title: 't', participants: ['bob'] });
    const { thread_id } = made as { thread_id: string };
    for (const body of bodies)
      await sample.call(caller('ann'), 'post_message', { thread_id, body, kind: 'chat', schema_version: 1 });
  }

  test('[HUB-M10] messages alone are taken, by their thread, and nothing before it was started', async () => {
    follower = open();
    await say('one', '  ', 'two');
    expect(index.calls).toBe(0);
    void follower.start();
    await vi.waitFor(() => expect(index.bodies()).toEqual(['one', 'two']), LONG);
    const [first] = index.kept.values();
    expect(first).toMatchObject({ workspace_id: 'w', document_id: `${first?.group} 1` });
    await say('three');
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect(index.bodies()).toEqual(['one', 'three', 'two']);
  });

  test('[HUB-M10] what another process has posted is taken before a question is answered, though no ring came', async () => {
    follower = open();
    void follower.start();
    await say('one');
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    const elsewhere = openSampleHub(store, { now: Date.now() }, createFeed());
    const made = await elsewhere.call(caller('ann'), 'create_thread', { title: 't' });
    const { thread_id } = made as { thread_id: string };
    const post = { thread_id, body: 'two', schema_version: 1 };
    await elsewhere.call(caller('ann'), 'post_message', post);
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect(index.bodies()).toEqual(['one', 'two']);
  });

  test('a full page is no moment of rest: what comes faster than a page in a rest is taken all the same', async () => {
    follower = open(10_000);
    await say('first');
    void follower.start();
    await vi.waitFor(() => expect(index.bodies()).toEqual(['first']), LONG);
    const made = await sample.call(caller('ann'), 'create_thread', { title: 't' });
    const { thread_id } = made as { thread_id: string };
    const post = (body: string): Promise<unknown> =>
      sample.call(caller('ann'), 'post_message', { thread_id, body, kind: 'chat', schema_version: 1 });
    await Promise.all(Array.from({ length: 4_000 }, (_, i) => post(`m${i}`)));
    const started = performance.now();
    await vi.waitFor(() => expect(index.kept.size).toBe(4_001), LONG);
    // Twenty pages and more: with a rest after each it would take five seconds.
    expect(performance.now() - started).toBeLessThan(2_500);
  });

  test('[HUB-M10] no more than the newest are kept, also when it starts late', async () => {
    await say(...Array.from({ length: 30 }, (_, i) => `m${i}`));
    follower = open(10);
    void follower.start();
    await vi.waitFor(() => expect(index.bodies()).toContain('m29'), LONG);
    expect(index.kept.size).toBeLessThanOrEqual(10);
    await say(...Array.from({ length: 30 }, (_, i) => `n${i}`));
    expect(await follower.caughtUp('w', LONG)).toBe(true);
    expect(index.bodies()).toContain('n29');
    expect(index.kept.size).toBeLessThanOrEqual(12);
  });
});
