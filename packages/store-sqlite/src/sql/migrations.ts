import { sql as log } from './0001-log.ts';
import { sql as words } from './0002-words.ts';
import { sql as moments } from './0003-moments.ts';
import { sql as sideChannels } from './0004-side-channels.ts';
import { sql as runs } from './0005-runs.ts';
import { sql as lists } from './0006-lists.ts';
import { sql as plainWords } from './0007-plain-words.ts';
import { sql as states } from './0008-states.ts';
import { sql as senderRuns } from './0009-sender-runs.ts';
import { sql as deliveries } from './0010-deliveries.ts';

/** Every migration in order; the schema version is how many have run. Forward only. `row_sum` is there for them. */
export const MIGRATIONS: readonly string[] = [
  log,
  words,
  moments,
  sideChannels,
  runs,
  lists,
  plainWords,
  states,
  senderRuns,
  deliveries,
];
