import { addCounts, type Clock, type StateFiles, type SloRecord, type SloWindow } from '@parley/core';
import * as z from 'zod';

export const SLO_FILE = 'slo.json';

const SAVE_MS = 300_000;
/** How old what the nodes of one record know of each other may be. */
const SHARE_MS = 5_000;

const Count = z.number().int().min(0);
const Counts = z.array(Count).max(64);
const Dump = z.array(
  z.tuple([
    Count,
    z.string().max(128),
    z.object({
      requests: Count,
      failures: Count,
      dead_letters: Count,
      retries: Count,
      codes: z.record(z.string().max(64), Count),
      latency: z.object({ internal: Counts, external: Counts }),
      jobs: Counts.optional(),
    }),
  ]),
);

/**
 * Keeps the week's counts over restarts, and where nodes share them adds those of all: saved now and then and at the end;
 * what was counted since is lost in a crash.
 */
export function keepSlo(
  stateFiles: StateFiles,
  slo: SloWindow,
  clock: Pick<Clock, 'now'>,
  onFault: (error: unknown) => void,
): { window: Pick<SloWindow, 'last' | 'hours'>; close(): Promise<void> } {
  let loaded = '';
  /** Takes over what other nodes have added since. */
  const follow = (): void => {
    const { revision, text } = stateFiles.look(SLO_FILE);
    if (revision === loaded || (loaded !== '' && !stateFiles.shared)) return;
    loaded = revision;
    if (text !== undefined) slo.load(parse(text));
  };
  const tryTo = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      // Figures alone are lost: the count begins anew.
      onFault(error);
    }
  };
  tryTo(follow);
  const save = async (): Promise<void> => {
    const { counted, done, failed } = slo.take();
    if (counted.length === 0) return failed();
    try {
      let all: SloRecord = [];
      await stateFiles.change(SLO_FILE, (text) => {
        all = addCounts(soundIn(text), counted, clock.now());
        return `${JSON.stringify(all)}\n`;
      });
      done(all);
    } catch (error) {
      failed();
      onFault(error);
    }
  };
  let saving: Promise<void> = Promise.resolve();
  const timer = setInterval(
    () => {
      saving = saving.then(save);
    },
    stateFiles.shared ? SHARE_MS : SAVE_MS,
  ).unref();
  return {
    window: {
      last(workspaceId, hours) {
        tryTo(follow);
        return slo.last(workspaceId, hours);
      },
      hours(workspaceId, hours) {
        tryTo(follow);
        return slo.hours(workspaceId, hours);
      },
    },
    async close() {
      clearInterval(timer);
      await saving;
      await save();
    },
  };
}

function parse(text: string): SloRecord {
  return Dump.parse(JSON.parse(text)) satisfies SloRecord;
}

/** What was kept, if it can be read. */
function soundIn(text: string | undefined): SloRecord {
  try {
    return text === undefined ? [] : parse(text);
  } catch {
    return [];
  }
}
