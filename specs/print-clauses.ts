/** `npm run clauses`: which clauses the last full run proved, and by which tests. */
import { parseArgs } from 'node:util';
import { clauseTable } from './clause-table.ts';
import { clauses } from './clauses.ts';
import { extentOf, prove } from './proof.ts';
import { readFullRun } from './test-results.ts';

const help = `Usage: npm run clauses -- [options]

Prints each clause, how far the last full run proved it (full, or narrow with what is not shown), and the tests
that name it.

  --area NAME   only that area with the cases due with it (hub, bridge, live, proxy, knowledge,
                promises), or only a group of cases (cases, cases/AUTH, …)
  --unproved    only what is not proved
  --narrow      only what is proved in part
  --json        {"clauses":[{"id","area","text","tests","proved","proof","reason"}]}; run with npm run --silent;
                proof is full, narrow or none, and all but full has its reason
  --help        this text
`;

const { values: options } = parseArgs({
  options: {
    area: { type: 'string' },
    unproved: { type: 'boolean' },
    narrow: { type: 'boolean' },
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

  const proofs = prove(clauses, run?.tests ?? [])
    .filter(({ clause }) => isIn(options.area, clause.area, clause.dueWith))
    .filter(({ proved }) => !options.unproved || !proved)
    .filter((proof) => !options.narrow || extentOf(proof).proof === 'narrow');
  if (!options.json) {
    process.stdout.write(clauseTable(proofs));
    return;
  }
  const listed = proofs.map((proof) => {
    const { clause, tests, proved } = proof;
    const { id, area, text } = clause;
    const named = tests.map((test) => `${test.file} > ${test.name}`);
    return { id, area, text, tests: named, proved, ...extentOf(proof) };
  });
  process.stdout.write(`${JSON.stringify({ clauses: listed }, null, 2)}\n`);
}

function isIn(wanted: string | undefined, area: string, dueWith: string): boolean {
  return wanted === undefined || area === wanted || dueWith === wanted || area.startsWith(`${wanted}/`);
}
