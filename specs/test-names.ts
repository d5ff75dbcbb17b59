/** How a test says what it proves: its name opens with ids in brackets. */

const opening = /(?:^| > )((?:\[[^\]]+\] ?)+)/g;
const literalOpening = /['"`]((?:\[[^\]\n]+\] ?)+)/g;
const suiteOpening = /\bdescribe[\w.]*\((?:\s*\[[^\]]*\],)?\s*['"`]((?:\[[^\]\n]+\] ?)+)/g;
const bracketed = /\[([^\]]+)\]/g;
const idLike = /^(?:[A-Z]{2,}-[A-Z]*\d[\d.]*|C-[A-Z]+-\d+|R\d+|AT \S+)$/i;

/** The ids with which a test's name, or the name of a suite around it, opens. */
export function idsIn(fullName: string): string[] {
  return [...fullName.matchAll(opening)].flatMap(([, ids = '']) => bracketedIn(ids));
}

/** The ids that stand literally at the start of a string in a test's source. */
export function idsInSource(source: string): string[] {
  const ids = [...source.matchAll(literalOpening)].flatMap(([, found = '']) => bracketedIn(found));
  return [...new Set(ids)].filter((id) => idLike.test(id));
}

/** The ids in a test's source that open the names of suites and of no test: a suite proves nothing in particular. */
export function idsOnSuites(source: string): string[] {
  const onTests = new Set(idsInSource(source.replaceAll(suiteOpening, '')));
  const onSuites = [...source.matchAll(suiteOpening)].flatMap(([, found = '']) => bracketedIn(found));
  return [...new Set(onSuites)].filter((id) => idLike.test(id) && !onTests.has(id));
}

function bracketedIn(text: string): string[] {
  return [...text.matchAll(bracketed)].map(([, id = '']) => id);
}
