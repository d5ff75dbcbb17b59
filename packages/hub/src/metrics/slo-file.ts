import { join } from 'node:path';

import type { SloDump, SloWindow } from '@parley/core';
import { z } from 'zod';

import { readPrivateFile, writePrivateFile } from '../data-folder.ts';

export const SLO_FILE = 'slo.json';

const SAVE_MS = 300_000;

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
    }),
  ]),
);

/** Keeps the week's counts over restarts: saved now and then and at the end; what was counted since is lost in a crash. */
export function keepSlo(
  folder: string,
  slo: SloWindow,
  onFault: (error: unknown) => void,
): { close(): void } {
  const path = join(folder, SLO_FILE);
  let saved = '';
  try {
    const text = readPrivateFile(path);
    if (text !== undefined) slo.load(Dump.parse(JSON.parse(text)) satisfies SloDump);
    saved = text ?? '';
  } catch (error) {
    // Figures alone are lost: the count begins anew.
    onFault(error);
  }
  const save = (): void => {
    const dump = slo.dump();
    const text = `${JSON.stringify(dump)}\n`;
    if (dump.length === 0 || text === saved) return;
    try {
      writePrivateFile(path, text);
      saved = text;
    } catch (error) {
      onFault(error);
    }
  };
  const timer = setInterval(save, SAVE_MS).unref();
  return {
    close() {
      clearInterval(timer);
      save();
    },
  };
}
