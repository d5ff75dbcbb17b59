/** Loads everything Parley has to prove: the areas' clauses, the acceptance cases and the promises. */
import { readdirSync, readFileSync } from 'node:fs';
import * as z from 'zod';

const face = z.enum(['v1', 'mcp', 'ws', 'events', 'envelope', 'dashboard']);

const areaFile = z.strictObject({
  area: z.string().describe('what `--area` names'),
  finished: z.boolean().describe('from then on every due id must be proved'),
  except: z.array(z.string()).describe('ids of this area that are not due yet'),
  cases: z.array(z.string()).describe('the acceptance cases that fall due with this area'),
  clauses: z.array(
    z.strictObject({
      id: z.string(),
      text: z.string().min(1),
      section: z.string().optional(),
      faces: z.array(face).nonempty().optional(),
    }),
  ),
});

const caseFile = z.array(
  z.strictObject({
    id: z.string(),
    area: z.string(),
    clause: z.string(),
    do: z.string().min(1),
    expect: z.string().min(1),
  }),
);

const extent = z.discriminatedUnion('proof', [
  z.strictObject({ proof: z.literal('full') }),
  z.strictObject({
    proof: z.literal('narrow'),
    reason: z.string().min(10).describe('what of the text no test shows'),
  }),
]);

const extentFile = z.record(z.string(), extent);

/** How far the tests of a clause go, as somebody judged who read them beside its text. */
export type Extent = z.infer<typeof extent>;

/** One thing to prove; a case is a clause whose text says what to do and what to expect. */
export interface Clause {
  id: string;
  area: string;
  text: string;
  section?: string | undefined;
  faces?: readonly z.infer<typeof face>[] | undefined;
  /** The area with which the clause falls due: its own, or for a case the one that lists it. */
  dueWith: string;
  /** True once that area is finished and does not except the clause. */
  due: boolean;
  /** Undefined where nobody has judged it yet. */
  extent?: Extent | undefined;
}

type AreaFile = z.infer<typeof areaFile>;
type CaseFile = z.infer<typeof caseFile>;

/** Joins areas and cases into one list, and throws on an id that is unknown, doubled or due nowhere. */
export function joinClauses(
  areas: readonly AreaFile[],
  cases: CaseFile,
  extents: Readonly<Record<string, Extent>> = {},
): readonly Clause[] {
  const areaByCase = new Map(areas.flatMap((area) => area.cases.map((id) => [id, area] as const)));
  const isDue = (area: AreaFile, id: string) => area.finished && !area.except.includes(id);

  const clauses: Clause[] = areas.flatMap((area) =>
    area.clauses.map((clause) => ({
      ...clause,
      area: area.area,
      dueWith: area.area,
      due: isDue(area, clause.id),
    })),
  );
  for (const { id, area: group, clause, do: action, expect } of cases) {
    const area = areaByCase.get(id);
    if (!area) throw new Error(`${id} is due with no area`);
    const text = `${action} → ${expect}`;
    const due = isDue(area, id);
    clauses.push({ id, area: `cases/${group}`, text, section: clause, dueWith: area.area, due });
  }

  refuseDoubles(clauses.map((clause) => clause.id));
  refuseDoubles(areas.flatMap((area) => area.cases));
  const known = new Set(clauses.map((clause) => clause.id));
  for (const area of areas) {
    const unknown = [...area.except, ...area.cases].filter((id) => !known.has(id));
    if (unknown.length > 0) throw new Error(`${area.area} lists unknown ids: ${unknown.join(', ')}`);
  }
  const judged = Object.keys(extents).filter((id) => !known.has(id));
  if (judged.length > 0) throw new Error(`judged and unknown: ${judged.join(', ')}`);
  return clauses.map((clause) => ({ ...clause, extent: extents[clause.id] }));
}

function refuseDoubles(ids: readonly string[]): void {
  const doubled = ids.filter((id, index) => ids.indexOf(id) !== index);
  if (doubled.length > 0) throw new Error(`listed twice: ${doubled.join(', ')}`);
}

function readJson<T>(schema: z.ZodType<T>, path: string): T {
  const parsed = schema.safeParse(JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')));
  if (!parsed.success) throw new Error(`specs/${path}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

function filesIn(folder: string): string[] {
  return readdirSync(new URL(folder, import.meta.url)).map((name) => folder + name);
}

/** All clauses, in the order of their files. */
export const clauses = joinClauses(
  [...filesIn('requirements/'), 'promises.json'].map((path) => readJson(areaFile, path)),
  filesIn('cases/').flatMap((path) => readJson(caseFile, path)),
  Object.assign({}, ...filesIn('proofs/').map((path) => readJson(extentFile, path))),
);
