import type { Carrier, Ticket } from './carrier.ts';

/** How much is worked on at once. */
export interface LaneLimits {
  perWorkspace: number;
  atOnce: number;
}

interface Lane {
  ready: Ticket[];
  /** Tickets that wait out a failure. */
  delayed: number;
  running: number;
  /** How many rests it was told to take and has not ended. */
  resting: number;
}

/** The longest wait that one timer takes. */
const TIMER_MAX_MS = 2_147_483_647;

/** A carrier in memory: a line for each workspace, served in turn, so that a long one delays nobody else's. */
export function createLanes({ perWorkspace, atOnce }: LaneLimits): Carrier {
  const lanes = new Map<string, Lane>();
  const timers = new Set<NodeJS.Timeout>();
  let work: ((ticket: Ticket) => Promise<void>) | undefined;
  let running = 0;
  let closed = false;
  let idle: () => void = () => {};

  function laneOf(workspaceId: string): Lane {
    let lane = lanes.get(workspaceId);
    if (lane === undefined)
      lanes.set(workspaceId, (lane = { ready: [], delayed: 0, running: 0, resting: 0 }));
    return lane;
  }

  function later(ms: number, run: () => void): void {
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        run();
      },
      Math.min(ms, TIMER_MAX_MS),
    ).unref();
    timers.add(timer);
  }

  /** Serves the lines in turn while there is room; whoever was served goes to the end. */
  function serve(): void {
    if (work === undefined || closed) return;
    for (const [workspaceId, lane] of lanes) {
      if (running >= atOnce) return;
      if (lane.running >= perWorkspace || lane.resting > 0) continue;
      const ticket = lane.ready.shift();
      if (ticket === undefined) continue;
      // At the end of the map it is met again in this very loop, after all others.
      lanes.delete(workspaceId);
      lanes.set(workspaceId, lane);
      void bring(ticket, lane, work);
    }
  }

  async function bring(ticket: Ticket, lane: Lane, worker: (ticket: Ticket) => Promise<void>): Promise<void> {
    running += 1;
    lane.running += 1;
    await worker(ticket);
    running -= 1;
    lane.running -= 1;
    if (lane.running + lane.delayed + lane.ready.length === 0) lanes.delete(ticket.workspace_id);
    if (running === 0) idle();
    serve();
  }

  return {
    put(ticket, delayMs) {
      if (closed) return;
      const lane = laneOf(ticket.workspace_id);
      if (delayMs <= 0) {
        lane.ready.push(ticket);
        serve();
        return;
      }
      lane.delayed += 1;
      later(delayMs, () => {
        lane.delayed -= 1;
        lane.ready.push(ticket);
        serve();
      });
    },
    hold(ticket, restMs) {
      if (closed) return;
      const lane = laneOf(ticket.workspace_id);
      lane.ready.unshift(ticket);
      lane.resting += 1;
      later(restMs, () => {
        lane.resting -= 1;
        serve();
      });
    },
    waiting(workspaceId) {
      const lane = lanes.get(workspaceId);
      return lane === undefined ? 0 : lane.ready.length + lane.delayed + lane.running;
    },
    start(worker) {
      work = worker;
      serve();
    },
    async close() {
      closed = true;
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      if (running > 0) await new Promise<void>((resolve) => (idle = resolve));
    },
  };
}
