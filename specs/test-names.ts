/** How a test says what it proves: its name opens with ids in brackets. */

const opening = /(?:^| > )((?:\[[^\]]+\] ?)+)/g;
const literalOpening = /['"`]((?:\[[^\]\n]+\] ?)+)/g;
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

function bracketedIn(text: string): string[] {
  return [...text.matchAll(bracketed)].map(([, id = '']) => id);
}
