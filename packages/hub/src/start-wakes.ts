import { randomUUID } from 'node:crypto';

import {
  createCallFollower,
  createOwnedJob,
  createReturns,
  createWaitingSessions,
  createWaker,
  type AgentPorts,
  type HeardSession,
  type Live,
  type MessagePorts,
  type WakePorts,
} from '@parley/core';

import type { Config } from './config/schema.ts';
import { shareDoors } from './nodes/share-doors.ts';
import { wakeSettings } from './part-settings.ts';
import type { OpenRecord } from './start-record.ts';
import { createDoors } from './wake/doors.ts';
import { runtimeProfiles } from './wake/profile.ts';

/** What wakes agents: when somebody asks for it, when a message calls, when one comes back. */
export interface Wakes extends WakePorts {
  /** Goes on with what was under way before a restart, then follows the log. */
  start(): Promise<void>;
  close(): Promise<void>;
}

type WakesDeps = OpenRecord &
  AgentPorts &
  Pick<MessagePorts, 'offers' | 'prose'> & { live: Live; onFault: (error: unknown) => void };

const ARRIVAL = 'arrival';
const ROLL_CALL = 'arrival.all';

/** Builds the waker with its doors and those who ask it for a wake. */
export function createWakes(config: Config, deps: WakesDeps): Wakes {
  const { clock, commander, live, arrivals, leases, nodes, onFault } = deps;
  const job = createOwnedJob({ leases, onFault }, 'wakes');
  const waitingSessions = createWaitingSessions(clock.monotonic);
  const wakeProfiles = runtimeProfiles(config);
  const log = job.log(deps.log);
  const doors = createDoors({
    config: config.wake,
    profiles: wakeProfiles,
    commander,
    context: (signal) => ({ request_id: `wake_${randomUUID()}`, signal }),
    waiting: waitingSessions,
    clock,
  });
  const shared = nodes && shareDoors(doors, wakeProfiles, nodes, lookFor);
  const wakerDeps = {
    ...deps,
    log,
    store: job.store(deps.store),
    doors: shared?.doors ?? doors,
    settings: wakeSettings(config.wake),
    wakeProfiles: shared?.profiles ?? wakeProfiles,
    waitingSessions,
  };
  const waker = createWaker(wakerDeps);
  const returns = createReturns({ ...wakerDeps, waker, isOwner: () => job.isOwned });
  const openCalls = () =>
    createCallFollower({
      ...wakerDeps,
      waker,
      graceMs: config.wake.grace_ms,
      hears: (...which) => live.hears(...which),
    });
  let calls: ReturnType<typeof openCalls> | undefined;

  /** Whoever wakes looks for calls that were passed by when nobody knew of a way to this agent. */
  function lookFor(who: Pick<HeardSession, 'workspace_id' | 'agent_id'>): void {
    if (config.wake.on_call && job.isOwned) returns.came(who);
  }

  if (config.wake.on_call) {
    // Whoever wakes looks for those who come, to whichever node they come.
    nodes?.bus.subscribe(ARRIVAL, (who) => {
      // Only nodes of this hub speak on the bus: what they say is sealed, and this is how they say it.
      if (job.isOwned) returns.came(who as HeardSession);
    });
    // What the one before passed by, since it did not know of a connection, is looked at by the next.
    nodes?.bus.subscribe(ROLL_CALL, () => {
      for (const who of live.takers()) nodes.bus.publish(ARRIVAL, who);
    });
    arrivals.watch((who, { elsewhere }) => {
      if (nodes === undefined || job.isOwned) returns.came(who);
      else if (!elsewhere) nodes.bus.publish(ARRIVAL, who);
    });
  }
  return {
    waker,
    waitingSessions,
    start: () =>
      job.start(async () => {
        await waker.start();
        returns.start();
        if (nodes !== undefined && config.wake.on_call) {
          for (const who of [...live.takers(), ...wakerDeps.wakeProfiles]) returns.came(who);
          nodes.bus.publish(ROLL_CALL, {});
        }
        if (config.wake.on_call) {
          calls = openCalls();
          await calls.start();
        }
        return async () => {
          await calls?.close();
          await waker.stop();
        };
      }),
    async close() {
      await calls?.close();
      await returns.close();
      await waker.close();
      await job.close();
    },
  };
}
