/** A piece of a row that looks the same all along; `cells` where its place must not depend on the font. */
export interface Piece {
  text: string;
  class: string;
  color?: string;
  background?: string;
  cells?: 1 | 2;
}

/** What is drawn and does nothing: neither control characters nor what hides or turns text around. */
const HARMLESS = /[^\t\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]/gu;
/** What every font for terminals draws as wide as a letter; anything else gets a cell of its own. */
const UNSURE = /([^\u0020-\u024f\u2500-\u259f]\p{M}*)/u;

/** Colours that the style sheet knows. */
const NAMED = /^(?:\d|1[0-5]|ground|ink)$/;

const FLAGS: Readonly<Record<string, string>> = {
  o: 't-bold',
  d: 't-dim',
  i: 't-italic',
  u: 't-under',
  x: 't-strike',
  h: 't-hidden',
};

/** A row's text and runs, as pieces to draw. What the runs do not speak of is drawn plain, and nothing in them acts. */
export function piecesOf(text: string, runs: string): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  const add = (part: string, marks: readonly string[]): void => {
    const look = lookOf(marks);
    const harmless = part.replaceAll(HARMLESS, '');
    if (harmless === '') return;
    if (marks.includes('w')) return void pieces.push({ ...look, text: harmless, cells: 2 });
    for (const bit of harmless.split(UNSURE))
      if (bit !== '') pieces.push({ ...look, text: bit, ...(UNSURE.test(bit) ? { cells: 1 } : {}) });
  };
  for (const run of runs === '' ? [] : runs.split(' ')) {
    const [length = '', ...marks] = run.split(';');
    const end = at + Math.max(0, Number.parseInt(length, 10) || 0);
    add(text.slice(at, end), marks);
    at = end;
  }
  add(text.slice(at), []);
  return pieces;
}

function lookOf(marks: readonly string[]): Pick<Piece, 'class' | 'color' | 'background'> {
  const classes: string[] = [];
  let front = '';
  let ground = '';
  for (const mark of marks) {
    const flag = FLAGS[mark];
    if (flag !== undefined) classes.push(flag);
    else if (/^[fF]/.test(mark)) front = mark.slice(1);
    else if (/^[bB]/.test(mark)) ground = mark.slice(1);
  }
  if (marks.includes('v')) [front, ground] = [ground || 'ground', front || 'ink'];
  const look: Pick<Piece, 'class' | 'color' | 'background'> = { class: '' };
  const color = mixed(front);
  const background = mixed(ground);
  if (color !== undefined) look.color = color;
  else if (NAMED.test(front)) classes.push(`t-f-${front}`);
  if (background !== undefined) look.background = background;
  else if (NAMED.test(ground)) classes.push(`t-b-${ground}`);
  return { ...look, class: classes.join(' ') };
}

/** A colour beyond the sixteen that have a class: one of the cube, a grey, or any that is mixed. */
function mixed(colour: string): string | undefined {
  if (/^[0-9a-f]{6}$/.test(colour)) return `#${colour}`;
  const number = /^\d{1,3}$/.test(colour) ? Number(colour) : 0;
  if (number < 16 || number > 255) return undefined;
  if (number >= 232) return rgb(Array.from({ length: 3 }, () => 8 + (number - 232) * 10));
  const cube = number - 16;
  return rgb(
    [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map((n) => (n === 0 ? 0 : 55 + n * 40)),
  );
}

function rgb(parts: readonly number[]): string {
  return `rgb(${parts.join(' ')})`;
}
