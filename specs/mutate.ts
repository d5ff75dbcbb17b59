/** `npm run mutate`: makes wrong changes to the product, one at a time, and counts how many its unit tests catch. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as z from 'zod';

import { filesOf } from './mutation-files.ts';
import {
  type Mutant,
  outdated,
  scoreOf,
  scoresByFile,
  scoreTable,
  unexplained,
  withScores,
} from './mutation-score.ts';

const help = `Usage: npm run mutate -- [package] [group…] [options]

Changes the product in small wrong ways (StrykerJS), runs the unit tests of the group on each change, and
prints how many were caught. What is mutated, by which tests, and the score that is promised stand in
specs/mutation.json, with the mutants that may live and why. Without a package all of them are run. What
has not changed since it was run is taken from the run before.

  --list        the packages and their groups
  --report      the figures of the runs before, without running anything
  --survivors   also each mutant that lives without a reason on record, ready for specs/mutation.json
  --jobs N      so many mutants at once (1)
  --again       run again what was run before, too
  --proof       also write the scores of all groups into docs/proof.md
  --json        {"packages":[{"name","promised","score","files","unexplained","outdated","missing"}]}
  --help        this text

Ends with 1 where a score is below the promise, a reason fits no mutant any more, or a group was never run.
`;

const planFile = z.strictObject({
  packages: z.record(
    z.string(),
    z.strictObject({
      score: z.number().describe('the least share of mutants that the tests catch, in per cent'),
      groups: z.record(
        z.string(),
        z.strictObject({ mutate: z.array(z.string()).nonempty(), tests: z.array(z.string()).nonempty() }),
      ),
    }),
  ),
  survivors: z.array(
    z.strictObject({
      file: z.string(),
      mutator: z.string(),
      original: z.string().describe('the line as it stands, without its indent'),
      replacement: z.string(),
      reason: z.string().min(10),
    }),
  ),
});

const reportFile = z.object({
  files: z.record(
    z.string(),
    z.object({
      source: z.string(),
      mutants: z.array(
        z.object({
          mutatorName: z.string(),
          replacement: z.string().optional(),
          status: z.string(),
          location: z.object({ start: z.object({ line: z.number() }) }),
        }),
      ),
    }),
  ),
});

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean' },
    report: { type: 'boolean' },
    survivors: { type: 'boolean' },
    jobs: { type: 'string', default: '1' },
    again: { type: 'boolean' },
    proof: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = `${root}.cache/mutation/`;
const plan = planFile.parse(JSON.parse(readFileSync(new URL('mutation.json', import.meta.url), 'utf8')));
const say = (text: string): boolean => (options.json ? process.stderr : process.stdout).write(`${text}\n`);

if (options.help) process.stdout.write(help);
else if (options.list) list();
else main();

function list(): void {
  for (const [name, { score, groups }] of Object.entries(plan.packages)) {
    process.stdout.write(`${name} (${score} %)\n`);
    for (const [group, { mutate }] of Object.entries(groups))
      process.stdout.write(`  ${group.padEnd(14)} ${mutate.join(' ')}\n`);
  }
}

function main(): void {
  const [wanted, ...groups] = positionals;
  if (wanted !== undefined && !Object.hasOwn(plan.packages, wanted)) {
    process.stderr.write(
      `no package named ${wanted} is mutated; there are: ${Object.keys(plan.packages).join(', ')}\n`,
    );
    process.exitCode = 2;
    return;
  }
  const names = wanted === undefined ? Object.keys(plan.packages) : [wanted];
  const unknown = groups.filter((group) => !Object.hasOwn(plan.packages[wanted ?? '']?.groups ?? {}, group));
  if (unknown.length > 0) {
    process.stderr.write(`${wanted} has no group named ${unknown.join(', ')}\n`);
    process.exitCode = 2;
    return;
  }
  if (!options.report) {
    const todo = names.flatMap((name) =>
      Object.keys(plan.packages[name]?.groups ?? {})
        .filter((group) => groups.length === 0 || groups.includes(group))
        .map((group) => [name, group] as const),
    );
    for (const [at, [name, group]] of todo.entries()) {
      say(`\n# ${name}/${group} (${at + 1} of ${todo.length})`);
      runGroup(name, group);
    }
  }
  const results = names.map((name) => resultOf(name, groups));
  if (options.json) process.stdout.write(`${JSON.stringify({ packages: results }, null, 2)}\n`);
  if (options.proof) writeProof();
  if (results.some(({ isHeld }) => !isHeld)) process.exitCode = 1;
}

/** Runs Stryker over one group; what it records makes the next run quicker. */
function runGroup(name: string, group: string): void {
  const { mutate: files, tests } = plan.packages[name]?.groups[group] ?? { mutate: [], tests: [] };
  mkdirSync(cache, { recursive: true });
  const config = {
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'vitest.mutate.config.ts', related: false },
    mutate: filesOf(root, files),
    // Texts are not asserted, and most other words are held by their types.
    mutator: { excludedMutations: ['StringLiteral'] },
    ignoreStatic: true,
    coverageAnalysis: 'perTest',
    concurrency: Number(options.jobs),
    // Stryker cannot read a tsconfig with TypeScript 7; a file that is not there it leaves alone.
    tsconfigFile: 'none.json',
    checkers: [],
    buildCommand: `${process.execPath} --import tsx ${root}specs/mutation/bundle-tests.ts`,
    ignorePatterns: ['**/dist', '/.cache', '/bench', '/docs', '/tests', '/examples'],
    incremental: true,
    incrementalFile: `${cache}${name}-${group}.incremental.json`,
    force: options.again === true,
    tempDirName: '.cache/stryker',
    timeoutMS: 8_000,
    dryRunTimeoutMinutes: 20,
    reporters: ['json', 'progress-append-only'],
    jsonReporter: { fileName: reportOf(name, group) },
    allowEmpty: true,
  };
  const file = `${cache}${name}-${group}.config.json`;
  writeFileSync(file, JSON.stringify(config));
  const { status } = spawnSync(
    process.execPath,
    [`${root}node_modules/@stryker-mutator/core/bin/stryker.js`, 'run', file],
    {
      cwd: root,
      stdio: ['ignore', options.json ? 2 : 'inherit', 'inherit'],
      // What a mutant writes need not outlive it: in memory, an fsync costs nothing.
      env: {
        ...process.env,
        MUTATION_TESTS: JSON.stringify(filesOf(root, tests)),
        ...(existsSync('/dev/shm') ? { TMPDIR: '/dev/shm' } : {}),
      },
    },
  );
  if (status !== 0) say(`${name}/${group}: Stryker did not come to its end`);
}

function writeProof(): void {
  const groups = Object.entries(plan.packages).flatMap(([name, one]) =>
    Object.keys(one.groups)
      .filter((group) => existsSync(reportOf(name, group)))
      .map((group) => ({
        group: `${name} ${group}`,
        files: scoresByFile(readMutants(reportOf(name, group)), plan.survivors),
      })),
  );
  const path = `${root}docs/proof.md`;
  writeFileSync(path, withScores(readFileSync(path, 'utf8'), groups));
  spawnSync(process.execPath, [`${root}node_modules/oxfmt/bin/oxfmt`, path]);
}

function reportOf(name: string, group: string): string {
  return `${cache}${name}-${group}.json`;
}

function resultOf(name: string, groups: readonly string[]) {
  const { score: promised = 0, groups: all = {} } = plan.packages[name] ?? {};
  const counted = Object.keys(all).filter((group) => groups.length === 0 || groups.includes(group));
  const missing = counted.filter((group) => !existsSync(reportOf(name, group)));
  const mutants = counted
    .filter((group) => !missing.includes(group))
    .flatMap((group) => readMutants(reportOf(name, group)));
  const files = scoresByFile(mutants, plan.survivors);
  const sum = (of: (one: (typeof files)[number]) => number) =>
    files.reduce((total, one) => total + of(one), 0);
  // Nothing is said of tests that were never tried.
  const score =
    mutants.length === 0
      ? undefined
      : scoreOf(
          sum(({ caught }) => caught),
          sum(({ survived, uncovered }) => survived + uncovered),
        );
  const alive = unexplained(mutants, plan.survivors);
  const gone = outdated(mutants, plan.survivors);
  const isHeld = score !== undefined && score >= promised && gone.length === 0 && missing.length === 0;
  if (score === undefined) say(`\n${name}: nothing was run, promised ${promised} %`);
  else say(`\n${name}: ${score.toFixed(1)} % caught, promised ${promised} %\n\n${scoreTable(files)}`);
  if (options.survivors) for (const one of alive) say(JSON.stringify(one));
  for (const one of gone) say(`a reason that fits no mutant any more: ${JSON.stringify(one)}`);
  if (missing.length > 0) say(`never run: ${missing.join(', ')}`);
  return { name, promised, score, isHeld, files, unexplained: alive, outdated: gone, missing };
}

function readMutants(path: string): Mutant[] {
  const { files } = reportFile.parse(JSON.parse(readFileSync(path, 'utf8')));
  return Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n');
    return mutants.map(({ mutatorName, replacement = '', status, location: { start } }) => ({
      file,
      line: start.line,
      mutator: mutatorName,
      original: lines[start.line - 1]?.trim() ?? '',
      replacement,
      status,
    }));
  });
}
