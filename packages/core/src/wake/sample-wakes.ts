import type { Caller } from '@parley/protocol';

import type { Entry } from '../entry.ts';
import { createFeed } from '../feed.ts';
import { openSampleHub } from '../sample-hub.ts';
import { openMemoryStore } from '../store-memory.ts';
import { journalId } from '../threads/access.ts';
import { createArrivals } from './arrivals.ts';
import type { Delivery, Door, DoorName, DoorRequest, Look, WakeTarget } from './door.ts';
import { createCallFollower } from './follow-calls.ts';
import type { WakeSettings } from './policy.ts';
import { createReturns } from './returns.ts';
import type { Wake } from './wake.ts';
import { createWaker } from './waker.ts';

const workspace_id = 'w';
export const caller = (agent_id: string, role: Caller['role'] = 'worker'): Caller => ({
  agent_id,
  workspace_id,
  role,
  session_id: `${agent_id}-1`,
});
export const alice = caller('alice');
export const bob = caller('bob');
export const ann = caller('ann', 'operator');

/** The bounds of these wakes. */
export const SETTINGS: WakeSettings = {
  quiet: false,
  recheckMs: 10,
  quietMs: 1_000,
  maxDeferMs: 60_000,
  expireMs: 86_400_000,
  proofMs: 10_000,
  returnMs: 0,
  repeatAfterMs: 600_000,
  pairPerHour: 3,
  targetPerHour: 100,
};

/** Lets so many milliseconds go by, in which nothing is to happen. */
export const passing = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** How long it takes to look for whoever has come, and longer. */
const LOOK_MS = 100;

/** A door that the test is the runtime of. */
export function scriptedDoor(
  name: DoorName,
  look: () => Look,
  deliver: (doorRequest: DoorRequest) => Promise<Delivery>,
) {
  const doorRequests: DoorRequest[] = [];
  const targets: WakeTarget[] = [];
  const door: Door = {
    name,
    serves: () => true,
    look: async () => look(),
    async deliver(target, doorRequest) {
      doorRequests.push(doorRequest);
      targets.push(target);
      return deliver(doorRequest);
    },
  };
  return { door, doorRequests, targets };
}

/** What a runtime says that works on it. */
export const delivered = async (): Promise<Delivery> => ({ came: 'delivered', proof: 'runtime_status' });

/** Alice and bob in a thread, bob in a supervisor's hands, and doors that the test stands behind. */
export async function openScene(
  doors: Door[],
  settings: Partial<WakeSettings> = {},
  store = openMemoryStore(),
  participants = ['bob'],
) {
  const time = { now: Date.parse('2030-01-01T00:00:00Z') };
  const feed = createFeed();
  const { deps, call } = openSampleHub(store, time, feed);
  const clock = { now: () => time.now, monotonic: () => performance.now(), trusted: () => time.now };
  const open = (some: Door[] = doors) =>
    createWaker({
      ...deps,
      clock,
      doors: new Map(some.map((door) => [door.name, door])),
      settings: { ...SETTINGS, ...settings },
      wakeProfiles: [],
      onFault: (error) => {
        throw error;
      },
    });
  let waker = open();
  deps.waker = {
    wake: (...args) => waker.wake(...args),
    look: (...args) => waker.look(...args),
    canReach: (...args) => waker.canReach(...args),
  };
  await call(bob, 'heartbeat_session', { runtime: 'codex_cli', management_mode: 'managed' });
  const { thread_id } = (await call(alice, 'create_thread', { title: 'a thread', participants })) as {
    thread_id: string;
  };
  const say = (who: Caller, body: string) =>
    call(who, 'post_message', { thread_id, schema_version: 1, body }) as Promise<{
      message_id: string;
      seq: number;
    }>;
  const trigger = (who: Caller = alice, more: object = {}) =>
    call(who, 'trigger_participant', { thread_id, target_agent_id: 'bob', ...more }) as Promise<
      Record<string, unknown>
    >;
  const journal = async (): Promise<Entry[]> => {
    const id = journalId(workspace_id, 'bob');
    const query = { workspace_id, thread_id: id, after: 0, limit: 1_000, max_bytes: 1e9 };
    return (await store.page(query)).entries.filter(({ type }) => type === 'agent.wake');
  };
  const steps = async () => (await journal()).map(({ metadata }) => metadata?.['step']);
  const wakes = (): Promise<Wake[]> => store.records({ kind: 'wake', workspace_id, limit: 100 });
  const fault = (error: unknown): never => {
    throw error as Error;
  };
  /** How often the follower has asked for a wake. */
  const asked = { count: 0 };
  const follow = (about: { graceMs?: number; hears?: () => boolean } = {}) =>
    createCallFollower({
      ...deps,
      clock,
      doors: new Map(doors.map((door) => [door.name, door])),
      settings: SETTINGS,
      wakeProfiles: [],
      waker: {
        ...waker,
        wake(...args) {
          asked.count++;
          return waker.wake(...args);
        },
      },
      graceMs: 0,
      hears: () => false,
      ...about,
      onFault: fault,
    });
  /** From here on it is looked who comes, as after a start of the hub; `isReady` once that goes on with what was under way. */
  const receive = ({ isReady = true } = {}) => {
    const returns = createReturns({ ...deps, waker, onFault: fault });
    deps.arrivals = createArrivals({ monotonic: () => time.now, silentMs: 120_000 });
    deps.arrivals.watch((who) => returns.came(who));
    if (isReady) returns.start();
    // Not in the midst of its look: what it is to leave alone it has then left alone.
    const close = async (): Promise<void> => {
      await passing(LOOK_MS);
      await returns.close();
    };
    return { start: () => returns.start(), close };
  };
  return {
    call,
    say,
    trigger,
    journal,
    steps,
    wakes,
    thread_id,
    time,
    follow,
    asked,
    receive,
    log: deps.log,
    beat: (status: 'idle' | 'active' | 'offline' = 'idle') =>
      call(bob, 'heartbeat_session', { runtime: 'codex_cli', management_mode: 'managed', status }),
    /** The hub stops and starts again on the same record. */
    async restart(some?: Door[]) {
      await waker.close();
      waker = open(some);
      await waker.start();
    },
    /** Somebody has a connection from now on. */
    arrive: (who: Caller) => deps.arrivals.connected(who),
    /** Another node wakes from now on, until this one does again. */
    stop: () => waker.stop(),
    start: () => waker.start(),
    close: () => waker.close(),
  };
}
