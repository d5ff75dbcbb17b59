/** `npm run prove`: the long forms of tests, with the bounds of their cases, and a table of what they measured. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { COMMANDS, type ProvingCommand } from './commands.ts';
import { LONG_FORMS, type LongForm } from './long-forms.ts';
import { proofTable, withChapters } from './proof-table.ts';
import { type Figure, mostTelling, readResults, type Result, writeResults } from './results.ts';
import { stateOfCode } from './state-of-code.ts';

const help = `Usage: npm run prove -- [options]

Runs the tests that npm test holds in a short form in their long one, with the bounds that their cases state, then
the simulation and the benches. Meant for a machine of its own: other work on it shows in the figures. After each
of them docs/proof.json and docs/proof.md are written anew, with the figures beside the bounds. Both are committed,
and each result names its code: a run of all may be spread over days. What has a result of this code is not run
again; what never ran comes first, then what did not hold, then what ran longest ago.

  --only ID     only this one; may be given more than once
  --list        what there is, in the order in which it runs, with the minutes it takes about
  --minutes N   only what fits into so many minutes
  --again       run also what has a result of this code
  --json        {"commit","results":[{"id","held","minutes","figures"}]} on stdout, all else on stderr
  --help        this text

Ends with 1 where one of those that were asked for does not hold, or has no result of this code.
`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean' },
    minutes: { type: 'string' },
    again: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

type Item = ({ kind: 'test' } & LongForm) | ({ kind: 'command' } & ProvingCommand);

const root = fileURLToPath(new URL('../..', import.meta.url));
const items = new Map<string, Item>([
  ...Object.entries(LONG_FORMS).map(([id, form]): [string, Item] => [id, { kind: 'test', ...form }]),
  ...Object.entries(COMMANDS).map(([id, command]): [string, Item] => [id, { kind: 'command', ...command }]),
]);
const resultsFile = `${root}docs/proof.json`;
const say = (text: string): boolean => process.stderr.write(`${text}\n`);

if (options.help) process.stdout.write(help);
else if (options.list) list();
else main();

function list(): void {
  for (const [id, { minutes, title, bound }] of items)
    process.stdout.write(`${id.padEnd(14)} ${String(minutes).padStart(4)} min  ${title}: ${bound}\n`);
}

function main(): void {
  const unknown = options.only.filter((id) => !items.has(id));
  const most = options.minutes === undefined ? Infinity : Number(options.minutes);
  if (unknown.length > 0 || !(most > 0)) {
    if (unknown.length > 0)
      say(`nothing is called ${unknown.join(', ')}; there are: ${[...items.keys()].join(', ')}`);
    else say(`--minutes takes a number above 0, not ${options.minutes}`);
    process.exitCode = 2;
    return;
  }
  const code = stateOfCode(root);
  const results = readResults(resultsFile);
  const wanted = [...items.keys()].filter((id) => options.only.length === 0 || options.only.includes(id));
  const isOpen = (id: string): boolean => options.again === true || results.get(id)?.code !== code;
  const todo = withinTime(mostTelling(wanted.filter(isOpen), results), most);
  const done = wanted.filter((id) => !isOpen(id)).length;
  say(`${done} of ${wanted.length} have a result of this code; ${todo.length} to run`);
  if (todo.length > 0) node(['scripts/build.mjs']);
  for (const [at, [id, item]] of todo.entries()) {
    const left = todo.slice(at).reduce((sum, [, { minutes }]) => sum + minutes, 0);
    say(`\n# ${id}: ${item.title} (${at + 1} of ${todo.length}, about ${left} minutes left)`);
    const result = run(id, item, code);
    results.set(id, result);
    writeResults(resultsFile, [...items.keys()], results);
    say(`${id}: ${result.held ? 'held' : 'NOT HELD'} after ${result.minutes.toFixed(1)} minutes`);
    writeTable(code, results);
  }
  writeTable(code, results);
  const told = wanted.flatMap((id) => results.get(id) ?? []).filter((result) => result.code === code);
  if (options.json) process.stdout.write(`${JSON.stringify({ commit: code, results: told }, null, 2)}\n`);
  if (told.length < wanted.length || told.some(({ held }) => !held)) process.exitCode = 1;
}

/** As many of them, in their order, as fit into the time that there is. */
function withinTime(ids: readonly string[], most: number): [string, Item][] {
  let left = most;
  return ids.flatMap((id): [string, Item][] => {
    const item = items.get(id);
    if (item === undefined || item.minutes > left) return [];
    left -= item.minutes;
    return [[id, item]];
  });
}

function run(id: string, item: Item, code: string): Result {
  mkdirSync(`${root}.cache/prove`, { recursive: true });
  const figuresFile = `${root}.cache/prove/figures.jsonl`;
  rmSync(figuresFile, { force: true });
  const startedAt = Date.now();
  const { held, figures } = item.kind === 'test' ? runTest(item, figuresFile) : item.run(root);
  const noted = existsSync(figuresFile)
    ? readFileSync(figuresFile, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Figure & { id: string })
    : [];
  const own = noted.filter((figure) => figure.id === id).map(({ what, figure }) => ({ what, figure }));
  const at = new Date().toISOString();
  // More than one or two says that the machine did other things besides.
  const load = { what: 'load of the machine', figure: (loadavg()[0] ?? 0).toFixed(1) };
  const [cpu] = cpus();
  const machine = `node ${process.version}, ${cpus().length} cores (${cpu?.model.trim() ?? ''}), ${Math.round(totalmem() / 2 ** 30)} GiB`;
  const minutes = Math.round((Date.now() - startedAt) / 600) / 100;
  return { id, held, at, minutes, code, machine, figures: [...own, ...figures, load] };
}

/** One test in its long form: held when it ran and passed, and none that its name fits was skipped. */
function runTest({ file, test, project }: LongForm, figuresFile: string) {
  const report = `${root}.cache/prove/vitest.json`;
  rmSync(report, { force: true });
  const pattern = test.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const passed = node(
    `node_modules/vitest/vitest.mjs run --maxWorkers 1 --reporter default --reporter json --project ${project}`
      .split(' ')
      .concat(`--outputFile.json=${report}`, '-t', pattern, file),
    { PROVE: 'long', PROVE_FIGURES: figuresFile },
  );
  const { numPassedTests = 0, testResults = [] } = existsSync(report)
    ? (JSON.parse(readFileSync(report, 'utf8')) as VitestReport)
    : {};
  const faults = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .flatMap(({ failureMessages = [] }) => failureMessages.map((text) => text.split('\n')[0] ?? ''));
  const figures = faults.map((figure) => ({ what: 'failed', figure }));
  if (numPassedTests === 0 && faults.length === 0)
    figures.push({ what: 'failed', figure: 'no test ran: what it needs is missing here' });
  return { held: passed && numPassedTests > 0, figures };
}

interface VitestReport {
  numPassedTests?: number;
  testResults?: { assertionResults: { failureMessages?: string[] }[] }[];
}

function node(args: readonly string[], env: Record<string, string> = {}): boolean {
  // What the children print is progress: stdout is for the JSON alone.
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, ...env },
  });
  return status === 0;
}

function writeTable(code: string, results: ReadonlyMap<string, Result>): void {
  const rows = [...items].map(([id, { title, bound }]) => ({ id, title, bound, result: results.get(id) }));
  const path = `${root}docs/proof.md`;
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  writeFileSync(path, withChapters(proofTable({ code, rows }), before));
  node(['node_modules/oxfmt/bin/oxfmt', 'docs/proof.md', 'docs/proof.json']);
}
