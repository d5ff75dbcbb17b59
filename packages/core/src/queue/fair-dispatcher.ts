import type { Dispatcher, DueDelivery } from './dispatcher.ts';

/** How much is worked on at once. */
export interface DispatchLimits {
  perWorkspace: number;
  atOnce: number;
}

interface Line {
  ready: DueDelivery[];
  /** Deliveries that wait out a failure. */
  delayed: number;
  running: number;
  /** How many rests it was told to take and has not ended. */
  resting: number;
}

/** The longest wait that one timer takes. */
const TIMER_MAX_MS = 2_147_483_647;

/** A dispatcher in memory: a line for each workspace, served in turn, so that a long one delays nobody else's. */
export function createFairDispatcher({ perWorkspace, atOnce }: DispatchLimits): Dispatcher {
  const lines = new Map<string, Line>();
  const timers = new Set<NodeJS.Timeout>();
  let work: ((due: DueDelivery) => Promise<void>) | undefined;
  let running = 0;
  let closed = false;
  let idle: () => void = () => {};

  function lineOf(workspaceId: string): Line {
    let line = lines.get(workspaceId);
    if (line === undefined)
      lines.set(workspaceId, (line = { ready: [], delayed: 0, running: 0, resting: 0 }));
    return line;
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
    for (const [workspaceId, line] of lines) {
      if (running >= atOnce) return;
      if (line.running >= perWorkspace || line.resting > 0) continue;
      const due = line.ready.shift();
      if (due === undefined) continue;
      // At the end of the map it is met again in this very loop, after all others.
      lines.delete(workspaceId);
      lines.set(workspaceId, line);
      void bring(due, line, work);
    }
  }

  async function bring(
    due: DueDelivery,
    line: Line,
    worker: (due: DueDelivery) => Promise<void>,
  ): Promise<void> {
    running += 1;
    line.running += 1;
    await worker(due);
    running -= 1;
    line.running -= 1;
    if (line.running + line.delayed + line.ready.length === 0) lines.delete(due.workspace_id);
    if (running === 0) idle();
    serve();
  }

  function put(due: DueDelivery, delayMs: number): void {
    if (closed) return;
    const line = lineOf(due.workspace_id);
    if (delayMs <= 0) {
      line.ready.push(due);
      serve();
      return;
    }
    line.delayed += 1;
    later(delayMs, () => {
      line.delayed -= 1;
      line.ready.push(due);
      serve();
    });
  }

  return {
    put,
    resume: put,
    hold(due, restMs) {
      if (closed) return;
      const line = lineOf(due.workspace_id);
      line.ready.unshift(due);
      line.resting += 1;
      later(restMs, () => {
        line.resting -= 1;
        serve();
      });
    },
    waiting(workspaceId) {
      const line = lines.get(workspaceId);
      return line === undefined ? 0 : line.ready.length + line.delayed + line.running;
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
