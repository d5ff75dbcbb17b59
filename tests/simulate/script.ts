import type { Trouble } from './faulty-disk.ts';
import { createRandom, type Random } from './random.ts';

/** One thing that happens: plain data, so that a history can be made shorter by leaving things out. */
export type Step = {
  /** When, in milliseconds since the beginning. */
  at: number;
  /** Its own number, which names what it writes. */
  n: number;
} & Happening;

type Of<Kind extends string, More = unknown> = { kind: Kind; workspace: number; who: number } & More;

/** What people and agents do; threads and the like are named by their number, as far as there are so many. */
export type Doing =
  | Of<'create_thread'>
  | Of<'post', { thread: number; to: number; reply: number; repeatMs: number }>
  | Of<'read', { thread: number }>
  | Of<'ack', { thread: number; back: number }>
  /** With `lateMs` it is answered so long after its end, or before. */
  | Of<'raise', { thread: number; lastsMs: number; lateMs?: number }>
  | Of<'answer', { ask: number; isApproved: boolean }>
  | Of<'withdraw', { ask: number }>
  | Of<'control', { thread: number; control: ControlKind; target: number }>
  | Of<'status', { thread: number; status: 'active' | 'closed' }>
  | Of<'trigger', { thread: number; target: number }>
  /** The same agent is woken for two threads at once. */
  | Of<'summon', { thread: number; target: number }>
  | Of<'advice', { thread: number }>
  | Of<'beat'>
  | Of<'create_document'>
  | Of<'move_document', { document: number; under: number }>
  /** Changes a document as it was so many revisions ago. */
  | Of<'revise', { document: number; way: 'update' | 'revert'; stale: number }>
  | Of<'deliver', { document: number; action: 'create' | 'update'; lastsMs: number }>
  /** Letters that died are tried again so long after a sweep has begun. */
  | Of<'redrive', { afterMs: number }>
  | Of<'follow', { thread: number }>
  | Of<'trespass', { thread: number }>;

type ControlKind = 'mute' | 'unmute' | 'pause' | 'resume' | 'ask_all' | 'ask_nobody' | 'size';

/** What befalls them. */
type Mishap =
  | { kind: 'trouble'; trouble: Exclude<Trouble, 'silent'>; forMs: number }
  /** The disk writes and answers nobody, until the node is killed. */
  | { kind: 'hang'; forMs: number; downMs: number }
  | { kind: 'crash'; isWritten: boolean; downMs: number }
  | { kind: 'stop'; downMs: number }
  | { kind: 'jump'; ms: number };

type Happening = Doing | Mishap;

export const WORKSPACES = ['north', 'south'] as const;
/** The first is a person, the second steers, the others work and can be woken. */
export const ACTORS = ['ann', 'olga', 'wim', 'wes', 'wan'] as const;
const HOUR_MS = 3_600_000;

const DOINGS: readonly [number, Doing['kind']][] = [
  [4, 'create_thread'],
  [40, 'post'],
  [10, 'read'],
  [12, 'ack'],
  [8, 'raise'],
  [9, 'answer'],
  [2, 'withdraw'],
  [7, 'control'],
  [2, 'status'],
  [8, 'trigger'],
  [3, 'summon'],
  [4, 'advice'],
  [4, 'beat'],
  [3, 'create_document'],
  [3, 'move_document'],
  [8, 'revise'],
  [8, 'deliver'],
  [4, 'redrive'],
  [4, 'follow'],
  [2, 'trespass'],
];

const CONTROLS: readonly ControlKind[] = [
  'mute',
  'unmute',
  'pause',
  'resume',
  'resume',
  'ask_all',
  'ask_nobody',
  'size',
];

/** The history of a seed: bursts of work, quiet hours, and mishaps among them. */
export function makeScript(seed: number, hours: number): Step[] {
  const random = createRandom(seed);
  const steps = beginning();
  let at = 3_000;
  /** How many come close together: much happens while the disk is in trouble. */
  let close = 0;
  for (let n = steps.length + 1; ; n++) {
    const isQuiet = close === 0 && random.is(0.06);
    const most = close > 0 ? 1_500 : random.is(0.5) ? 500 : 40_000;
    at += isQuiet ? random.below(HOUR_MS / 2) : random.below(most);
    if (at >= hours * HOUR_MS) return steps;
    const happening = random.is(0.08) ? mishap(random) : doing(random);
    close = happening.kind === 'trouble' ? random.between(5, 20) : Math.max(0, close - 1);
    steps.push({ at, n, ...happening });
  }
}

/** Threads to speak in, and some who follow from the start. */
function beginning(): Step[] {
  const doings = WORKSPACES.flatMap((_name, workspace): Doing[] => [
    { kind: 'create_thread', workspace, who: 1 },
    { kind: 'create_thread', workspace, who: 2 },
    { kind: 'follow', workspace, who: 0, thread: -1 },
    { kind: 'follow', workspace, who: 2, thread: 0 },
  ]);
  return doings.map((one, i) => ({ at: i * 300, n: i + 1, ...one }));
}

function mishap(random: Random): Mishap {
  const downMs = random.is(0.8) ? random.below(20_000) : random.below(2 * HOUR_MS);
  const draw = random.next();
  if (draw < 0.4) return { kind: 'crash', isWritten: random.is(0.5), downMs };
  if (draw < 0.5) return { kind: 'stop', downMs };
  if (draw < 0.57) return { kind: 'hang', forMs: random.below(30_000), downMs };
  if (draw < 0.67)
    return {
      kind: 'jump',
      ms: random.is(0.5)
        ? -random.below(2 * HOUR_MS)
        : random.below(random.is(0.5) ? HOUR_MS : 1_440 * HOUR_MS),
    };
  const trouble = random.pick(['refuses', 'late', 'unknown', 'unreadable'] as const);
  return { kind: 'trouble', trouble, forMs: random.between(50, 60_000) };
}

// oxlint-disable-next-line typescript/consistent-return -- Every kind returns.
function doing(random: Random): Doing {
  const kind = weighted(random);
  const head = { workspace: random.below(WORKSPACES.length), who: random.below(ACTORS.length) };
  const thread = random.below(1_000);
  const target = random.between(2, ACTORS.length - 1);
  switch (kind) {
    case 'post':
      return {
        kind,
        ...head,
        thread,
        to: random.is(0.5) ? target : -1,
        reply: random.is(0.2) ? random.below(1_000) : -1,
        repeatMs: random.is(0.3) ? random.below(HOUR_MS) : 0,
      };
    case 'ack':
      return { kind, ...head, thread, back: random.is(0.3) ? random.below(5) : 0 };
    case 'raise':
      return {
        kind,
        ...head,
        thread: random.is(0.5) ? thread : -1,
        // Not so long that its agent goes, or somebody else answers it first.
        ...(random.is(0.4)
          ? { lastsMs: random.between(1_000, 4_000), lateMs: random.between(-10, 0) }
          : { lastsMs: random.between(1_000, HOUR_MS) }),
      };
    case 'answer':
      // Several people, or one with two devices, may answer at once.
      return { kind, ...head, who: 0, ask: random.below(3), isApproved: random.is(0.5) };
    case 'withdraw':
      return { kind, ...head, ask: random.below(3) };
    case 'control':
      return {
        kind,
        ...head,
        who: random.below(2),
        thread,
        control: random.pick(CONTROLS),
        target,
      };
    case 'status':
      return {
        kind,
        ...head,
        who: random.below(2),
        thread,
        status: random.pick(['active', 'active', 'closed'] as const),
      };
    case 'trigger':
    case 'summon':
      return { kind, ...head, thread, target };
    case 'move_document':
      return { kind, ...head, document: random.below(1_000), under: random.below(1_000) };
    case 'revise':
      return {
        kind,
        ...head,
        document: random.below(1_000),
        way: random.pick(['update', 'revert'] as const),
        stale: random.below(2),
      };
    case 'deliver':
      return {
        kind,
        ...head,
        document: random.below(1_000),
        action: random.pick(['create', 'update'] as const),
        lastsMs: random.between(10_000, HOUR_MS),
      };
    case 'redrive':
      return { kind, ...head, afterMs: random.below(8) };
    case 'follow':
      return { kind, ...head, thread: random.is(0.4) ? -1 : thread };
    case 'read':
    case 'advice':
    case 'trespass':
      return { kind, ...head, thread };
    case 'create_thread':
    case 'create_document':
    case 'beat':
      return { kind, ...head };
  }
}

function weighted(random: Random): Doing['kind'] {
  let left = random.below(DOINGS.reduce((sum, [weight]) => sum + weight, 0));
  for (const [weight, kind] of DOINGS) if ((left -= weight) < 0) return kind;
  return 'post';
}
