const over = (length: number, unit: string): string => unit.repeat(Math.ceil(length / unit.length));

/** One line after another, each by its number, until there is enough. */
function grown(length: number, line: (i: number) => string): string {
  let text = '';
  for (let i = 1; text.length < length; i++) text += line(i);
  return text;
}

/** Texts repeated from what marks something somewhere: each was, or could be, slow or deep for a careless reader. */
const UNITS = [
  ['>', '> ', '>\t', '>>x\n', '> a\n\n', '> a\n', '>- ', '>1.', '->', '> - a\n', '- > a\n'],
  ['- ', '* ', '1. ', '1) ', '- a\n', '- a\n\n', '- a\n  b\n', '- [ ] a\n', '- [', '+ + \n', '_ '],
  ['[', ']', '[[', '[[a', '[[a]]', '[[a#', '[[a|', '[a](', '[a](b)', '[a](<b', '[a](b "', '![', ']('],
  ['](a "', '[a]: b\n', '[a]:\n', '[a]: b "\n', '*', '*a ', 'a*', '_a ', 'a_', '*a_ ', '*a **b ', '~'],
  ['~~a ', '`', '`a', '`a``b', '```a', '```\n', '~~~a\n', '<', '<a ', '<div ', '<div>\n', '<!--', '<?'],
  ['<![CDATA[', '<!A ', '<a:', '<a@b', 'a@', 'a@b.', 'a.', '@', '@a ', '@a`', 'http://', 'www.', '&'],
  ['&#x', '\\', '\\[', ' ', '\t', '\n', 'a\n', 'a\n\n', '\r', '---\n', '-', '- - - - \n', 'a\n===', '#'],
  ['# a\n', ' #', '|', '|a', '|-', '-|', '|a|b|\n', '\\|', '    a\n', '    a\n\n', '"a', '"', '.', '. '],
  ['a', 'word ', '\u0301', '\u202e', '👩‍👩‍👧', '한', 'ก', `a${' '.repeat(60)}\n`, `${' '.repeat(70)}\n`],
  [`${'['.repeat(500)}\n\n`, `${'>'.repeat(500)}a\n`, `[[${'a'.repeat(498)}`, `](${'a'.repeat(998)}`],
].flat();

/** Texts of about this length that were written to hold somebody up, by what they are made of. */
export function hostileTexts(length: number): Map<string, string> {
  const texts = new Map(UNITS.map((unit) => [JSON.stringify(unit.slice(0, 20)), over(length, unit)]));
  const spaces = ' '.repeat(length);
  for (const [name, text] of Object.entries({
    'a gap': `a${spaces}b`,
    'a heading with a gap': `# a${spaces}b`,
    'a heading that never closes': `# a${over(length, ' #')}b`,
    'an address with an end like an end': `http://a.b/${over(length, '&a;')}`,
    'an address of brackets': `http://a.b/${over(length, ')')}`,
    'a name before a host': `${over(length, 'a.')}@`,
    'a tag with attributes': `<a${over(length, ' x')}`,
    'a comment of dashes': `<!--${over(length, '-')}`,
    'brackets in brackets': over(length / 2, '[') + over(length / 2, ']'),
    'longer and longer quotes': grown(length, (i) => `${'>'.repeat(i % 200)}a\n`),
    'deeper and deeper lists': grown(length, (i) => `${' '.repeat((i * 2) % 78)}- a\n`),
    'longer and longer ticks': grown(length, (i) => `${'`'.repeat(i)}a`),
    'links defined': grown(length, (i) => `[a${i}]: b\n`),
    'an item without an end': `- a\n${over(length, 'b\n')}`,
    'an item of many lines': `- a\n${over(length, '  b\n')}`,
    'a quote without an end': `> a\n${over(length, 'b\n')}`,
    'a table of many rows': `|a|b|\n|-|-|\n${over(length, '|a|b|\n')}`,
    'a wide table of empty rows': `${'|a'.repeat(200)}|\n${'|-'.repeat(200)}|\n${over(length, '|\n')}`,
    'a wide table': `${over(length / 3, '|a')}|\n${over(length / 3, '|-')}|\n${over(length / 3, '|a')}|\n`,
    'a rule that is none': `a|b\n${over(length, ':-:|')}x`,
    'a rule of dashes': `a|b\n${over(length, '-')}`,
    'nested as far as it goes': over(length, `${'> - '.repeat(9)}a\n`),
  }))
    texts.set(name, text);
  return texts;
}
