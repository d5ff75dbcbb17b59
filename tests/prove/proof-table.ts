import type { Result } from './results.ts';

interface Row {
  id: string;
  title: string;
  bound: string;
  /** Undefined where it never ran. */
  result: Result | undefined;
}

/** The page with the verdicts and, below, the figures; what was not run says so. */
export function proofTable(of: { code: string; rows: readonly Row[] }): string {
  const { code, rows } = of;
  const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const lines = rows.map(({ id, title, bound, result }) => {
    const verdict = result === undefined ? 'not run' : result.held ? 'yes' : '**no**';
    const took = result === undefined ? '' : `${result.minutes.toFixed(1)} min`;
    const when = result === undefined ? '' : `${result.at.slice(0, 10)}, ${result.code}`;
    return `| ${[id, title, bound, verdict, took, when].map(cell).join(' | ')} |`;
  });
  const figures = rows.flatMap(({ id, result }) =>
    result === undefined ? [] : [id, ...linesOf(result), ''],
  );
  const count = (wanted: boolean) => rows.filter(({ result }) => result?.held === wanted).length;
  const open = rows.filter(({ result }) => result === undefined).length;
  const current = rows.filter(({ result }) => result?.code === code).length;
  return `# Proof in the long form

Written by \`npm run prove\` from \`docs/proof.json\`. It runs tests that \`npm test\` holds in a short form, with the sizes and bounds that their cases state. Then it runs the simulation and the benches. Of ${rows.length}, ${count(true)} held, ${count(false)} did not, ${open} never ran. On the code as it stands (${code}) ran ${current}.

| id | what is done | bound | held | took | when, on which code |
| --- | --- | --- | --- | --- | --- |
${lines.join('\n')}

### What was measured

\`\`\`text
${figures.join('\n').trimEnd()}
\`\`\`
`;
}

function linesOf({ machine, figures }: Result): string[] {
  const lines = figures.map(({ what, figure }) => `  ${what}: ${figure.replaceAll('\n', ' ')}`);
  return [...lines, `  on: ${machine}`];
}

/** A new page, with the chapters that stood below the old one: those are written by people. */
export function withChapters(page: string, before: string): string {
  const at = before.indexOf('\n## ');
  return at < 0 ? page : page.trimEnd() + '\n' + before.slice(at);
}
