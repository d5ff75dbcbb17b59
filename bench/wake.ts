import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { startClaudePrint, startCodexExec } from '@parley/runtimes';

import { openTrialHome, type Runtime } from '../packages/hub/src/verify/trial-home.ts';
import { until } from '../packages/hub/src/verify/until.ts';
import { verifyRuntime } from '../packages/hub/src/verify/verify-runtime.ts';
import { tool } from '../tests/tools/tools.ts';
import { line } from './report.ts';

const PARLEY = fileURLToPath(new URL('../packages/hub/bin/parley.mjs', import.meta.url));
const ROUNDS = 5;

/** From a message on disk to the model seeing its wake, per runtime, door and kind of call; beside it the program started by hand. */
export async function benchWake(): Promise<void> {
  for (const runtime of ['codex', 'claude', 'opencode'] as const) {
    const bin = tool(runtime);
    if (typeof bin !== 'string') {
      line(runtime, `not measured: ${bin.missing}`);
      continue;
    }
    // What opencode is started with by hand is another protocol: its figures stand alone.
    const bare = runtime === 'opencode' ? undefined : median(await repeat(() => byHand(runtime, bin)));
    if (bare !== undefined) line(`${runtime}: started by hand`, `${bare} ms`);
    const msByWay = new Map<string, number[]>();
    for (let round = 0; round < ROUNDS; round++) {
      const self = [process.execPath, PARLEY];
      const { doors, rows } = await verifyRuntime({
        runtime,
        bin,
        path: process.env['PATH'] ?? '',
        self,
        oneAtATime: true,
      });
      const tried = [
        ...doors.map((one) => ({ way: one.door as string, took: one.ms })),
        ...rows.map((one) => ({ way: one.row, took: one.ms })),
      ];
      for (const { way, took } of tried)
        if (took !== undefined) msByWay.set(way, [...(msByWay.get(way) ?? []), took]);
    }
    for (const [way, all] of msByWay) {
      const ms = median(all);
      const beside = bare === undefined ? '' : `${(ms / bare).toFixed(2)} of by hand, `;
      line(`${runtime}: ${way}`, `median ${ms} ms, p95 ${p95(all)} ms (${beside}${all.length} rounds)`);
    }
  }
}

async function byHand(runtime: Exclude<Runtime, 'opencode'>, bin: string): Promise<number> {
  const place = await openTrialHome(runtime, process.env['PATH'] ?? '');
  try {
    const prompt = `a word ${randomUUID()}`;
    const { env, work: cwd } = place;
    const from = performance.now();
    const turn =
      runtime === 'codex'
        ? await startCodexExec({ bin, env, cwd, prompt })
        : await startClaudePrint({ bin, env, cwd, prompt });
    await until('the model saw it', async () => place.seenAt(prompt) !== undefined);
    await turn.ended;
    return Math.round((place.seenAt(prompt) ?? from) - from);
  } finally {
    await place.close();
  }
}

async function repeat(run: () => Promise<number>): Promise<number[]> {
  const all: number[] = [];
  for (let round = 0; round < ROUNDS; round++) all.push(await run());
  return all;
}

function p95(all: number[]): number {
  return all.toSorted((a, b) => a - b)[Math.ceil(all.length * 0.95) - 1] ?? 0;
}

function median(all: number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
}
