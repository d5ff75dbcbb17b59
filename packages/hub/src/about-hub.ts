import { performance } from 'node:perf_hooks';

import { type About, clockState, type StateFiles, type Nodes, type TimeKeeper } from '@parley/core';

import { readKeyFile } from './auth/key-file.ts';
import { VERSION } from './version.ts';

/** What the hub tells of itself, each time as it is then. */
export function createAbout(
  { stateFiles, time, nodes }: { stateFiles: StateFiles; time: TimeKeeper; nodes: Nodes | undefined },
  startedAt: number,
  address: () => string,
) {
  const started_at = new Date(startedAt).toISOString();
  return (): About => ({
    version: VERSION,
    started_at,
    address: address(),
    keys: describeKeys(stateFiles),
    event_loop: eventLoop(),
    clock: clockState(time.known()),
    ...(nodes && { nodes: { ...nodes.bus.health(), others: nodes.mirror.nodes().length } }),
  });
}

function describeKeys(stateFiles: StateFiles): About['keys'] {
  return readKeyFile(stateFiles).keys.map(({ kid, created_at, retired_at, workspace, private: secret }) => ({
    kid,
    own: secret !== undefined,
    created_at,
    ...(retired_at === undefined ? {} : { retired_at }),
    ...(workspace === undefined ? {} : { workspace }),
  }));
}

function eventLoop(): About['event_loop'] {
  const { active, idle } = performance.eventLoopUtilization();
  return { active_ms: Math.round(active), idle_ms: Math.round(idle) };
}
