/** `npm run clauses`: which clauses the last full run proved, and by which tests. */
import { parseArgs } from 'node:util';
import { clauseTable } from './clause-table.ts';
import { clauses } from './clauses.ts';
import { prove } from './proof.ts';
import { readFullRun, readProofs } from './test-results.ts';

const help = `Usage: npm run clauses -- [options]

Prints each clause, whether the last full run proved it, and the tests that name it.

  --area NAME   only that area with the cases due with it (hub, bridge, live, proxy, knowledge,
                promises), or only a group of cases (cases, cases/AUTH, …)
  --unproved    only what is not proved
  --json        {"clauses":[{"id","area","text","tests","proved"}]}; run with npm run --silent
  --help        this text
`;

const { values: options } = parseArgs({
  options: {
    area: { type: 'string' },
    unproved: { type: 'boolean' },
    json: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});

// A reader such as `head` may leave early.
process.stdout.on('error', () => process.exit());

if (options.help) process.stdout.write(help);
else print();

function print(): void {
  const run = readFullRun();
  if (!run) process.stderr.write('No full run is recorded yet: run `npm test` without arguments first.\n');
  if (!run && !options.json) {
    process.exitCode = 1;
    return;
  }

  const results = run ? [...run.tests, ...readProofs()] : [];
  const proofs = prove(clauses, results)
    .filter(({ clause }) => isIn(options.area, clause.area, clause.dueWith))
    .filter(({ proved }) => !options.unproved || !proved);
  if (!options.json) {
    process.stdout.write(clauseTable(proofs));
    return;
  }
  const listed = proofs.map(({ clause: { id, area, text }, tests, proved }) => {
    return { id, area, text, tests: tests.map((test) => `${test.file} > ${test.name}`), proved };
  });
  process.stdout.write(`${JSON.stringify({ clauses: listed }, null, 2)}\n`);
}

function isIn(wanted: string | undefined, area: string, dueWith: string): boolean {
  return wanted === undefined || area === wanted || dueWith === wanted || area.startsWith(`${wanted}/`);
}
