/** Ends a full run: exits 1 with a list when a due clause was not proved or, in CI, a test was skipped. */
import { parseArgs } from 'node:util';
import { clauses } from './clauses.ts';
import { inCi } from './in-ci.ts';
import { prove, shortcomings } from './proof.ts';
import { readFullRun } from './test-results.ts';

const { values } = parseArgs({ options: { since: { type: 'string', default: '0' } } });

const run = readFullRun();
if (!run || Date.parse(run.endedAt) < Number(values.since)) {
  process.stderr.write('The run recorded no results, so nothing is proved.\n');
  process.exitCode = 1;
} else {
  const proofs = prove(clauses, run.tests);
  const found = shortcomings(proofs, run, inCi());
  for (const line of found) process.stderr.write(`${line}\n`);
  if (found.length > 0) process.exitCode = 1;
}
