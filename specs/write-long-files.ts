/** Writes the order of the test files anew from what the last run measured: `npm run -s test:order`. */
import { readFileSync, writeFileSync } from 'node:fs';

const LONG_SECONDS = 10;

const costs = readFileSync('.cache/test-costs.jsonl', 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as { file: string; cpu: number; wall: number });

const long = costs.filter(({ wall }) => wall >= LONG_SECONDS).toSorted((a, b) => b.wall - a.wall);
writeFileSync(
  'specs/long-files.json',
  `${JSON.stringify(
    long.map(({ file }) => file),
    null,
    2,
  )}\n`,
);

const sum = (key: 'cpu' | 'wall'): string => costs.reduce((all, cost) => all + cost[key], 0).toFixed(0);
process.stdout.write(`${costs.length} files: ${sum('cpu')} s of CPU, ${sum('wall')} s one after the other\n`);
for (const { file, cpu, wall } of costs.toSorted((a, b) => b.cpu - a.cpu).slice(0, 30))
  process.stdout.write(`${cpu.toFixed(1).padStart(7)} s CPU ${wall.toFixed(1).padStart(7)} s  ${file}\n`);
