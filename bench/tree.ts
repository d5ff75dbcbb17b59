import { randomUUID } from 'node:crypto';

import { freshFolder, type HubProcess, removeFolder, startHub } from './hub-process.ts';
import { cpuSeconds } from './load.ts';
import { hold, line } from './report.ts';

const FEW = 100;
const MANY = 5_183;
const MOVES = 60;
const ALL_AT_ONCE = 100;
/** So often all are put into one gap: it takes some until the keys there have grown long and are made short. */
const ROUNDS = 25;

type Position = { before: string } | { ordering: number } | undefined;

/** What a move costs among many siblings, beside the same among few, and what it leaves to do for the next question. */
export async function benchTree(): Promise<void> {
  const data = freshFolder();
  const hub = await startHub(data);
  try {
    const token = hub.token('bench');
    const few = await fill(hub, token, FEW);
    const many = await fill(hub, token, MANY);
    await ask(hub, token);
    for (const [name, at] of Object.entries(PLACES)) {
      const [small, large] = [await moves(hub, token, few, at), await moves(hub, token, many, at)];
      line(
        `move ${name}`,
        `${large.cpu.toFixed(1)} ms CPU among ${MANY}, ${(large.cpu / small.cpu).toFixed(2)} of that among ${FEW}`,
      );
    }
    const quiet = await questions(hub, token, async () => {});
    const { parent, children } = many;
    const one = children[7] ?? '';
    const after: Record<string, () => Promise<unknown>> = {
      move: () => hub.call(token, 'move_document', { document_id: one, new_parent_id: parent }),
      'delete and restore': async () => {
        await hub.call(token, 'delete_document', { document_id: one });
        await hub.call(token, 'restore_document', { document_id: one });
      },
    };
    for (const [name, change] of Object.entries(after)) {
      const ms = await questions(hub, token, change);
      line(
        `the question after a ${name}`,
        `p50 ${ms.toFixed(1)} ms, ${(ms / quiet).toFixed(2)} of one without`,
      );
    }
    const spread = await beside(hub, token, many, (i) => (i * 37) % MANY);
    line("another's post, moves to many places", `at most ${spread.toFixed(0)} ms`);
    let crowded = 0;
    for (let i = 0; i < ROUNDS; i++) crowded = Math.max(crowded, await beside(hub, token, many, () => 5_000));
    line("another's post, moves into one gap", `at most ${crowded.toFixed(0)} ms in ${ROUNDS} rounds`);
    hold('tree.beside', Math.max(spread, crowded));
  } finally {
    await hub.stop();
    removeFolder(data);
  }
}

/** The longest that a post of another workspace takes while so many children are put elsewhere among their siblings at once. */
async function beside(
  hub: HubProcess,
  token: string,
  { parent, children }: Family,
  place: (i: number) => number,
): Promise<number> {
  const other = hub.token('other', 'orchestrator', 'elsewhere');
  const { thread_id } = await hub.call<{ thread_id: string }>(other, 'create_thread', { title: 'elsewhere' });
  const post = (body: string): Promise<unknown> =>
    hub.call(other, 'post_message', { thread_id, schema_version: 1, body });
  await post('before');
  const state = { isMoving: true };
  const moved = Promise.all(
    children.slice(100, 100 + ALL_AT_ONCE).map((document_id, i) =>
      hub.call(token, 'move_document', {
        document_id,
        new_parent_id: parent,
        position: { ordering: place(i) },
      }),
    ),
  ).finally(() => (state.isMoving = false));
  let longest = 0;
  do {
    const started = performance.now();
    await post('beside');
    longest = Math.max(longest, performance.now() - started);
  } while (state.isMoving);
  await moved;
  return longest;
}

const PLACES: Record<string, (children: readonly string[], i: number) => Position> = {
  'to the end': () => undefined,
  'before the second': (children) => ({ before: children[1] ?? '' }),
  'before the last but one': (children) => ({ before: children.at(-2) ?? '' }),
  'to the middle place': (children) => ({ ordering: Math.floor(children.length / 2) }),
};

interface Family {
  parent: string;
  children: string[];
}

async function fill(hub: HubProcess, token: string, count: number): Promise<Family> {
  const create = async (parent_id: string, title: string): Promise<string> => {
    const document_id = randomUUID();
    const content = { mime_type: 'text/plain', body: `Số ${title}: một trang ngắn` };
    await hub.call(token, 'create_document', { document_id, parent_id, content, metadata: { title } });
    return document_id;
  };
  const parent = await create('root', `${count} children`);
  const children: string[] = [];
  for (let i = 0; i < count; i += 50)
    children.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(50, count - i) }, (_, j) => create(parent, `page ${i + j}`)),
      )),
    );
  return { parent, children };
}

async function moves(
  hub: HubProcess,
  token: string,
  { parent, children }: Family,
  place: (children: readonly string[], i: number) => Position,
): Promise<{ cpu: number }> {
  const before = cpuSeconds(hub.pid);
  for (let i = 0; i < MOVES; i++) {
    const document_id = children[10 + (i % 20)] ?? '';
    const position = place(children, i);
    await hub.call(token, 'move_document', {
      document_id,
      new_parent_id: parent,
      ...(position === undefined ? {} : { position }),
    });
  }
  await ask(hub, token);
  return { cpu: ((cpuSeconds(hub.pid) - before) * 1_000) / MOVES };
}

/** How long a question takes right after something was done; the middle of a few. */
async function questions(hub: HubProcess, token: string, change: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 15; i++) {
    await change();
    const started = performance.now();
    await ask(hub, token);
    times.push(performance.now() - started);
  }
  return times.toSorted((a, b) => a - b)[7] ?? 0;
}

async function ask(hub: HubProcess, token: string): Promise<void> {
  await hub.call(token, 'query_knowledge', {
    query: 'trang ngắn 4711',
    routing: { max_latency_ms: 10_000 },
  });
}
