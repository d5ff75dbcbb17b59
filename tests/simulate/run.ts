/** `npm run simulate`: many histories in a simulated world, each held against the promises. */
import { parseArgs } from 'node:util';

import { makeScript, type Step } from './script.ts';
import { shrink } from './shrink.ts';
import { type Outcome, runScript } from './world.ts';

const help = `Usage: npm run simulate -- [--seeds N] [--hours H] [--seed S] [--json]

Runs whole hubs on virtual time over a disk that fails, and holds what people and agents saw against the promises.

  --seeds N   how many histories, 20 unless told
  --hours H   how many simulated hours of each, 6 unless told
  --seed S    the first of them, 1 unless told; the same seed and hours give the same history
  --json      one line of JSON at the end instead of words

Exits with 1 as soon as a promise is broken: prints the seed, and the shortest history that shows it.
`;

const OPTIONS = {
  seeds: { type: 'string', default: '20' },
  hours: { type: 'string', default: '6' },
  seed: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

const HOUR_MS = 3_600_000;

/** The history that still breaks the same promise, without whatever it does not take. */
function shortest(seed: number, script: readonly Step[], { broken }: Outcome): Promise<readonly Step[]> {
  const promises = new Set(broken.map(({ promise }) => promise));
  return shrink(script, async (some) =>
    (await runScript(seed, some)).broken.some(({ promise }) => promises.has(promise)),
  );
}

async function simulate(first: number, count: number, hours: number, isJson: boolean): Promise<boolean> {
  const total = { seeds: 0, simulated_hours: 0, calls: 0, acknowledged: 0, nodes: 0, timers: 0 };
  const print = (text: string): void => void (isJson || process.stdout.write(text));
  for (let seed = first; seed < first + count; seed++) {
    const script = makeScript(seed, hours);
    const outcome = await runScript(seed, script);
    total.seeds += 1;
    total.simulated_hours += outcome.simulatedMs / HOUR_MS;
    for (const key of ['calls', 'acknowledged', 'nodes', 'timers'] as const) total[key] += outcome[key];
    print(`\rseed ${seed}: ${total.seeds} of ${count}, ${Math.round(total.simulated_hours)} simulated hours`);
    if (outcome.broken.length === 0) continue;
    print(`\n\nSeed ${seed} breaks a promise; looking for the shortest history that does …\n`);
    const history = await shortest(seed, script, outcome);
    const { broken } = await runScript(seed, history);
    if (isJson)
      process.stdout.write(
        `${JSON.stringify({ ok: false, ...total, failed_seed: seed, hours, broken, history })}\n`,
      );
    for (const { promise, what } of broken) print(`  ${promise}: ${what}\n`);
    print(`\nIts history (${history.length} of ${script.length} steps):\n`);
    for (const step of history) print(`  ${JSON.stringify(step)}\n`);
    print(`\nAgain: npm run simulate -- --seed ${seed} --seeds 1 --hours ${hours}\n`);
    return false;
  }
  const words = `${total.calls} calls, ${total.nodes} starts of a hub, no promise broken`;
  print(`\n${total.seeds} seeds, ${Math.round(total.simulated_hours)} simulated hours, ${words}\n`);
  if (isJson) process.stdout.write(`${JSON.stringify({ ok: true, ...total })}\n`);
  return true;
}

const { values } = parseArgs({ options: OPTIONS });
const [seeds, hours, seed] = [values.seeds, values.hours, values.seed].map(Number);
if (values.help) process.stdout.write(help);
else if (
  !(seeds !== undefined && seeds > 0 && hours !== undefined && hours > 0 && Number.isSafeInteger(seed))
) {
  process.stderr.write(help);
  process.exitCode = 2;
} else process.exitCode = (await simulate(seed ?? 1, seeds, hours, values.json)) ? 0 : 1;
