import { ParleyError } from '@parley/protocol';

import { createActors } from './actors.ts';
import { playClosing } from './closing.ts';
import { createFaultyDisk, DiskError } from './faulty-disk.ts';
import { createHands, Lost, type Way } from './hands.ts';
import { createHistory } from './history.ts';
import { type Node, startNode } from './node.ts';
import { createPromises } from './promises.ts';
import { createRandom } from './random.ts';
import { ACTORS, type Step, WORKSPACES } from './script.ts';
import { createOutside } from './sessions.ts';
import { installVirtualTime } from './virtual-time.ts';

/** What came of one history. */
export interface Outcome {
  broken: { promise: string; what: string }[];
  simulatedMs: number;
  timers: number;
  calls: number;
  acknowledged: number;
  nodes: number;
}

interface Life {
  isOver: boolean;
  /** Something that it has written will never be answered. */
  isHanging: boolean;
  node?: Node;
  lost: Promise<never>;
  lose: (error: Lost) => void;
}

const START = Date.parse('2030-01-01T00:00:00Z');
/** After all mishaps: longer than any ask or delivery lasts. */
const QUIET_MS = 75 * 60_000;
const BEAT_MS = 60_000;
const CHECK_EVERY = 40;
const SOON_FORGOTTEN_MS = 120_000;
const HOUR_MS = 3_600_000;
const STOPPED_MS = 72 * HOUR_MS;

/** Runs one history in a world of its own, and holds it against the promises; the same seed and steps give the same. */
export async function runScript(seed: number, script: readonly Step[]): Promise<Outcome> {
  const random = createRandom(seed ^ 0x5eed);
  const history = createHistory();
  const onFault = (error: unknown): void => {
    // What the disk has refused is told to whoever looks after the hub; anything else is a fault of its own.
    if (error instanceof DiskError || error instanceof Lost) return;
    if (error instanceof ParleyError && error.code === 'UNAVAILABLE') return;
    history.isBroken(
      'no fault of its own',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
  };
  const time = installVirtualTime(START, onFault);
  process.on('unhandledRejection', onFault);
  const disk = createFaultyDisk(time, random);
  const outside = createOutside(time, random, ({ workspace_id, agent_id }, { thread_id }) => {
    if (random.is(0.7)) void actors.woken(workspace_id, agent_id, thread_id).catch(onFault);
  });
  const promises = createPromises(disk.truth, outside, history);
  let life: Life | undefined;
  let nodes = 0;
  let waiting: ((node: Node) => void)[] = [];
  let planned = (): void => {};

  async function boot(): Promise<void> {
    let lose: Life['lose'] = () => {};
    const lost = new Promise<never>((_resolve, reject) => (lose = reject));
    lost.catch(() => {});
    const own: Life = { isOver: false, isHanging: false, lost, lose };
    life = own;
    nodes += 1;
    try {
      own.node = await startNode({
        store: disk.open(),
        time,
        random,
        doors: outside.doors(own),
        messenger: outside.messenger(own),
        // Of every other seed they go soon, so that what is tried again may be about to be forgotten.
        keepDeadMs: seed % 2 === 0 ? undefined : SOON_FORGOTTEN_MS,
        observe: () => {},
        onFault,
      });
    } catch (error) {
      onFault(error);
      return kill(false, 1_000);
    }
    const up = waiting;
    waiting = [];
    for (const resolve of up) resolve(own.node);
  }

  /** The node is gone between one moment and the next; another comes after a while. */
  function kill(isWritten: boolean, downMs: number): void {
    if (life === undefined) return;
    life.isOver = true;
    disk.crash(isWritten);
    time.dropTimers();
    life.lose(new Lost('the connection was lost'));
    life = undefined;
    planned = time.after(downMs, () => void boot());
  }

  const way: Way = {
    up: () =>
      life?.node === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(life.node),
    answer(node, run) {
      const own = life;
      if (own?.node !== node) {
        run.catch(() => {});
        return Promise.reject(new Lost('the connection was lost'));
      }
      return Promise.race([run, own.lost]);
    },
  };
  const hands = createHands(time, way, history);
  const actors = createActors(hands, (...of) => promises.sizeOf(...of));

  const mishaps: (() => void)[] = [];
  function later(ms: number, run: () => void): void {
    mishaps.push(time.after(ms, run));
  }

  function happen(step: Step): void {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- All the rest is what actors do.
    switch (step.kind) {
      case 'trouble': {
        const { trouble } = step;
        disk.trouble = trouble;
        return later(step.forMs, () => {
          if (disk.trouble === trouble) disk.trouble = undefined;
        });
      }
      case 'hang':
        disk.trouble = 'silent';
        if (life !== undefined) life.isHanging = true;
        return later(step.forMs, () => {
          disk.trouble = undefined;
          kill(random.is(0.5), step.downMs);
        });
      case 'crash':
        return kill(step.isWritten, step.downMs);
      case 'stop': {
        const node = life?.node;
        if (node === undefined) return;
        delete life?.node;
        life?.lose(new Lost('the hub stops'));
        node.close().catch(onFault);
        return later(5_000, () => kill(true, step.downMs));
      }
      case 'jump':
        // Up to three days, a clock that was set while no hub ran cannot be told from time that has passed.
        return time.jump(life === undefined && step.ms < STOPPED_MS ? Math.min(step.ms, HOUR_MS) : step.ms);
      default:
        void actors.act(step).catch(onFault);
    }
  }

  function keepBeating(workspace: number, who: number): void {
    if (random.is(0.95)) void actors.beat(workspace, who).catch(onFault);
    time.after(BEAT_MS + random.below(5_000), () => keepBeating(workspace, who));
  }

  /** No more mishaps. A node that runs goes on, so that no start repairs what it has forgotten. */
  function calm(): void {
    for (const cancel of mishaps) cancel();
    disk.trouble = undefined;
    if (life?.node === undefined || life.isHanging) {
      kill(true, 1);
      planned();
      planned = time.after(1, () => void boot());
    }
  }

  try {
    planned = time.after(1, () => void boot());
    const ready = actors.watchChannels();
    for (const workspace of WORKSPACES.keys()) for (const who of ACTORS.keys()) keepBeating(workspace, who);
    await time.passUntil(5_000);
    await ready;
    let since = 0;
    for (const step of script) {
      await time.passUntil(5_000 + step.at);
      happen(step);
      if (++since % CHECK_EVERY === 0) await promises.check();
      if (history.broken.length > 0) break;
    }
    calm();
    const end = { isPlayed: false };
    if (history.broken.length === 0) playClosing(hands).then(() => (end.isPlayed = true), onFault);
    await time.passUntil(time.monotonic() + QUIET_MS);
    if (!end.isPlayed && history.broken.length === 0)
      history.isBroken('every call is answered', 'the end is not played');
    await promises.checkEnd(time.now());
  } finally {
    time.close();
    process.off('unhandledRejection', onFault);
  }
  const { broken, calls, acknowledged } = history;
  return { broken, simulatedMs: time.monotonic(), timers: time.fired(), calls, acknowledged, nodes };
}
