import { setTimeout as pause } from 'node:timers/promises';

import { agentsTopic, type Feed } from '@parley/core';

import type { EventStream } from '../../event-stream.ts';

/** However much agents have to tell, a reader hears of it once in this time. */
const GATHER_MS = 1_000;

const FRAME = 'event: agents\ndata: {}\n\n';

/** Puts a hint between the events of a stream when the state of some agent may have changed: ask `list_agents`. */
export async function tellOfAgents(feed: Feed, workspaceId: string, stream: EventStream): Promise<void> {
  const changes = feed.listen(agentsTopic(workspaceId));
  const { stop } = stream;
  try {
    for (;;) {
      await changes.next(stop);
      if (stop.aborted) return;
      if (!stream.blocked()) await stream.write(FRAME);
      await pause(GATHER_MS, undefined, { signal: stop, ref: false });
    }
  } catch {
    // The stream has ended, and with it the wish to know.
  } finally {
    changes.close();
  }
}
