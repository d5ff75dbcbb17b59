import type { CallContext, Clock, Commander, Door, DoorName, WaitingSessions } from '@parley/core';

import type { Config } from '../config/schema.ts';
import { createClaudeHookDoor } from './claude-hook-door.ts';
import { createCodexSocketDoor } from './codex-socket-door.ts';
import { createHeadlessDoors } from './headless-doors.ts';
import { createLinkDoors } from './link-doors.ts';
import { createProfileFinder, type RuntimeProfile } from './profile.ts';
import { createPrograms } from './versions.ts';

/** Every door this hub has, by name. */
export function createDoors(deps: {
  config: Config['wake'];
  profiles: readonly RuntimeProfile[];
  commander: Commander;
  context: (signal: AbortSignal) => CallContext;
  waiting: WaitingSessions;
  clock: Clock;
}): ReadonlyMap<DoorName, Door> {
  const { config, commander, context } = deps;
  const find = createProfileFinder(deps.profiles);
  const anyVersion = config.any_version;
  const doors = [
    ...createLinkDoors({
      commander,
      context,
      stateMs: STATE_MS,
      proofMs: config.proof_ms,
      now: () => deps.clock.now(),
      returnMs: config.return_ms,
    }),
    createCodexSocketDoor({ find, anyVersion }),
    createClaudeHookDoor({ waiting: deps.waiting, clock: deps.clock }),
    ...createHeadlessDoors({ find, programs: createPrograms(VERSION_MS), anyVersion }),
  ];
  return new Map(doors.map((door) => [door.name, door]));
}

/** How long a supervisor may take to say how its session stands. */
const STATE_MS = 5_000;
const VERSION_MS = 20_000;
