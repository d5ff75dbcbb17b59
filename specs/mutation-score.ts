/** What the mutants of a run say of the tests: how many they caught, and which they let through. */

/** One wrong change that was made to the product, and what the tests said to it. */
export interface Mutant {
  file: string;
  line: number;
  mutator: string;
  /** The line as it stands, and what the change puts in the place of its part. */
  original: string;
  replacement: string;
  /** Killed and Timeout are caught; Survived and NoCoverage are not; anything else says nothing of the tests. */
  status: string;
}

/** A mutant that may live, with the reason why no test need catch it. */
export interface Survivor {
  file: string;
  mutator: string;
  original: string;
  replacement: string;
  reason: string;
}

export interface FileScore {
  file: string;
  caught: number;
  survived: number;
  uncovered: number;
  /** Of those that live, how many have a reason. */
  explained: number;
  /** Caught of all that count, in per cent; 100 where nothing counts. */
  score: number;
}

const isCaught = ({ status }: Mutant): boolean => status === 'Killed' || status === 'Timeout';
const isAlive = ({ status }: Mutant): boolean => status === 'Survived' || status === 'NoCoverage';

/** The share that was caught, in per cent. */
export function scoreOf(caught: number, alive: number): number {
  return caught + alive === 0 ? 100 : (caught / (caught + alive)) * 100;
}

/** The figures of each file, the weakest first. */
export function scoresByFile(
  mutants: readonly Mutant[],
  survivors: readonly Survivor[],
): readonly FileScore[] {
  const files = [...new Set(mutants.map(({ file }) => file))];
  return files
    .map((file) => {
      const own = mutants.filter((mutant) => mutant.file === file);
      const count = (wanted: string) => own.filter(({ status }) => status === wanted).length;
      const [survived, uncovered] = [count('Survived'), count('NoCoverage')];
      const caught = own.filter(isCaught).length;
      const explained = own.filter((mutant) => isAlive(mutant) && reasonFor(mutant, survivors)).length;
      return { file, caught, survived, uncovered, explained, score: scoreOf(caught, survived + uncovered) };
    })
    .toSorted((a, b) => a.score - b.score);
}

/** The mutants that live without a reason on record. */
export function unexplained(mutants: readonly Mutant[], survivors: readonly Survivor[]): readonly Mutant[] {
  return mutants.filter((mutant) => isAlive(mutant) && !reasonFor(mutant, survivors));
}

/** Reasons that fit no living mutant of the files that were run: the tests or the code have moved on. */
export function outdated(mutants: readonly Mutant[], survivors: readonly Survivor[]): readonly Survivor[] {
  const files = new Set(mutants.map(({ file }) => file));
  return survivors.filter(
    (survivor) =>
      files.has(survivor.file) &&
      !mutants.some((mutant) => isAlive(mutant) && reasonFor(mutant, [survivor]) !== undefined),
  );
}

function reasonFor(mutant: Mutant, survivors: readonly Survivor[]): string | undefined {
  const { file, mutator, original, replacement } = mutant;
  return survivors.find(
    (one) =>
      one.file === file &&
      one.mutator === mutator &&
      one.original === original &&
      one.replacement === replacement,
  )?.reason;
}

/** The figures in aligned columns, with the sum at the end. */
export function scoreTable(scores: readonly FileScore[]): string {
  const sum = (of: (score: FileScore) => number) => scores.reduce((total, score) => total + of(score), 0);
  const [caught, survived, uncovered] = [
    sum((one) => one.caught),
    sum((one) => one.survived),
    sum((one) => one.uncovered),
  ];
  const all: FileScore = {
    file: 'all',
    caught,
    survived,
    uncovered,
    explained: sum((one) => one.explained),
    score: scoreOf(caught, survived + uncovered),
  };
  const rows = [
    ['file', 'score', 'caught', 'survived', 'uncovered', 'with a reason'],
    ...[...scores, all].map((one) => [
      one.file,
      `${one.score.toFixed(1)} %`,
      ...[one.caught, one.survived, one.uncovered, one.explained].map(String),
    ]),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join('  '),
    )
    .join('\n');
}

/** What became of the mutants of one group. */
export interface GroupScore {
  group: string;
  files: readonly FileScore[];
}

const CHAPTER = '## Mutation scores';

/** A page with the scores of all groups in its chapter of that name; what else stands there stays. */
export function withScores(page: string, groups: readonly GroupScore[]): string {
  const rows = groups.map(({ group, files }) => {
    const sum = (of: (one: FileScore) => number) => files.reduce((total, one) => total + of(one), 0);
    const [caught, alive] = [sum((one) => one.caught), sum((one) => one.survived + one.uncovered)];
    const explained = sum((one) => one.explained);
    const score = `${scoreOf(caught, alive).toFixed(1)} %`;
    return [group, ...[caught + alive, caught, explained, alive - explained].map(String), score];
  });
  const table = [
    ['group', 'mutants', 'caught', 'live with a reason', 'live without', 'score'],
    ['---', '---', '---', '---', '---', '---'],
    ...rows,
  ].map((row) => `| ${row.join(' | ')} |`);
  const text = `${CHAPTER}

Wrong changes that were made by machine in what decides, and how many of them the unit tests of their group caught (\`npm run mutate\`). The score is what was caught of all; those that may live stand in \`specs/mutation.json\` with the reason.

${table.join('\n')}
`;
  const at = page.indexOf(`\n${CHAPTER}\n`);
  if (at < 0) return `${page.trimEnd()}\n\n${text}`;
  const next = page.indexOf('\n## ', at + 1);
  return `${page.slice(0, at + 1)}${text}${next < 0 ? '' : page.slice(next)}`;
}
