import { extentOf, type Proof } from './proof.ts';

/** Lays proofs out in aligned columns (clause, state, proved by), each narrow one with its reason, and closes with the counts. */
export function clauseTable(proofs: readonly Proof[]): string {
  const rows = [
    ['clause', 'state', 'proved by'],
    ...proofs.map((proof) => [proof.clause.id, stateOf(proof), testsOf(proof)]),
  ];
  const widthOf = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const widths = [widthOf(0), widthOf(1), 0];
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  const reasons = ['', ...proofs.map((proof) => (proof.proved ? (extentOf(proof).reason ?? '') : ''))];
  const told = lines.flatMap((line, row) => {
    const reason = reasons[row] ?? '';
    return [line.trimEnd(), ...(reason === '' ? [] : [`${' '.repeat((widths[0] ?? 0) + 2)}${reason}`])];
  });
  const countOf = (wanted: string) => proofs.filter((proof) => extentOf(proof).proof === wanted).length;
  const [full, narrow] = [countOf('full'), countOf('narrow')];
  const count = `${full + narrow} of ${proofs.length} proved, ${full} in full and ${narrow} narrowly`;
  return [...told, '', count, ''].join('\n');
}

function stateOf(proof: Proof): string {
  const { proved, tests } = proof;
  if (proved) return extentOf(proof).proof;
  if (tests.length === 0) return 'no test';
  return tests.some((test) => test.state === 'fail') ? 'failed' : 'skipped';
}

function testsOf({ tests }: Proof): string {
  const [first] = tests;
  if (!first) return '';
  const others = tests.length > 1 ? ` (+${tests.length - 1})` : '';
  return `${first.file}${others}`;
}
