/** Something that was measured, in words. */
export interface Figure {
  what: string;
  figure: string;
}

/** What became of one long form. */
export interface Result {
  id: string;
  held: boolean;
  /** When it ended. */
  at: string;
  minutes: number;
  figures: readonly Figure[];
}

interface Row {
  id: string;
  title: string;
  bound: string;
  /** Undefined where it has not been run on this code. */
  result: Result | undefined;
}

/** The page with the figures beside their bounds; what was not run says so. */
export function proofTable(of: { code: string; machine: string; rows: readonly Row[] }): string {
  const { code, machine, rows } = of;
  const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
  const lines = rows.map(({ id, title, bound, result }) => {
    const figures = result?.figures.map(({ what, figure }) => `${what}: ${figure}`).join('; ') ?? '';
    const verdict = result === undefined ? 'not run' : result.held ? 'yes' : '**no**';
    const took = result === undefined ? '' : `${result.minutes.toFixed(1)} min`;
    return `| ${[id, title, bound, figures, verdict, took].map(cell).join(' | ')} |`;
  });
  const count = (wanted: boolean) => rows.filter(({ result }) => result?.held === wanted).length;
  const open = rows.filter(({ result }) => result === undefined).length;
  return `# Proof in the long form

Written by \`npm run prove\`. It runs tests that \`npm test\` holds in a short form, with the sizes and bounds that their cases state. Then it runs the simulation and the benches. ${count(true)} held, ${count(false)} did not, ${open} were not run.

Code ${code}, ${machine}.

| id | what is done | bound | measured | held | took |
| --- | --- | --- | --- | --- | --- |
${lines.join('\n')}
`;
}

/** A new page, with the chapters that stood below the old one: those are written by people. */
export function withChapters(page: string, before: string): string {
  const at = before.indexOf('\n## ');
  return at < 0 ? page : page.trimEnd() + '\n' + before.slice(at);
}
