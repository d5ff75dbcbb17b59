import type { Proof } from './proof.ts';

/** Lays proofs out in aligned columns (clause, state, proved by) and closes with the count. */
export function clauseTable(proofs: readonly Proof[]): string {
  const rows = [
    ['clause', 'state', 'proved by'],
    ...proofs.map((proof) => [proof.clause.id, stateOf(proof), testsOf(proof)]),
  ];
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = [widthOf(0), widthOf(1), 0];
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  const proved = proofs.filter((proof) => proof.proved).length;
  return [...lines.map((line) => line.trimEnd()), '', `${proved} of ${proofs.length} proved`, ''].join('\n');
}

function stateOf({ proved, tests }: Proof): string {
  if (proved) return 'proved';
  if (tests.length === 0) return 'no test';
  return tests.some((test) => test.state === 'fail') ? 'failed' : 'skipped';
}

function testsOf({ tests }: Proof): string {
  const [first] = tests;
  if (!first) return '';
  const others = tests.length > 1 ? ` (+${tests.length - 1})` : '';
  return `${first.file}${others}`;
}
