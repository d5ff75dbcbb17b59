import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';

import { startClaudePrint, startCodexExec } from '@parley/runtimes';

import { openPlace, type Runtime } from '../packages/hub/src/verify/place.ts';
import { until } from '../packages/hub/src/verify/until.ts';
import { verifyRuntime } from '../packages/hub/src/verify/verify-runtime.ts';
import { tool } from '../tests/tools/tools.ts';
import { line } from './report.ts';

const PARLEY = fileURLToPath(new URL('../packages/hub/bin/parley.mjs', import.meta.url));
const ROUNDS = 5;

/** From a message on disk to the model seeing its wake, per door; beside it the program started by hand with a prompt. */
export async function benchWake(): Promise<void> {
  for (const runtime of ['codex', 'claude'] as const) {
    const bin = tool(runtime);
    if (typeof bin !== 'string') {
      line(runtime, `not measured: ${bin.missing}`);
      continue;
    }
    const bare = median(await repeat(() => byHand(runtime, bin)));
    line(`${runtime}: started by hand`, `${bare} ms`);
    const msByDoor = new Map<string, number[]>();
    for (let round = 0; round < ROUNDS; round++) {
      const self = [process.execPath, PARLEY];
      const { doors } = await verifyRuntime({ runtime, bin, path: process.env['PATH'] ?? '', self });
      for (const { door, ms } of doors)
        if (ms !== undefined) msByDoor.set(door, [...(msByDoor.get(door) ?? []), ms]);
    }
    for (const [door, all] of msByDoor) {
      const ms = median(all);
      line(`${runtime}: ${door}`, `${ms} ms (${(ms / bare).toFixed(2)} of by hand, ${all.length} rounds)`);
    }
  }
}

async function byHand(runtime: Runtime, bin: string): Promise<number> {
  const place = await openPlace(runtime, process.env['PATH'] ?? '');
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

function median(all: number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
}
