/** Of a longer text only the beginning is read. */
const READ_CHARS = 4_000;

/** What somebody wrote without the marks of Markdown, for where there is room for a line or two; code is as it was. */
export function plainWords(text: string, keep: 'line' | 'lines' = 'line'): string {
  const exact: string[] = [];
  const aside = (words: string): string => `\uE000${exact.push(words) - 1}\uE001`;
  const plain = text
    .slice(0, READ_CHARS)
    .replaceAll(/^ {0,3}(`{3,}|~{3,}).*\n?([^]*?)(?:^ {0,3}\1.*$|(?![^]))/gm, (_, _mark, code: string) =>
      aside(code),
    )
    .replaceAll(
      /(`+)(?!`)(.+?)\1(?!`)|\\(_|[^\w\s])/g,
      (_, _mark, code: string | undefined, sign: string | undefined) => aside(code ?? sign ?? ''),
    )
    // Rules, the line under the head of a table, and what a change says of its files.
    .replaceAll(/^(?=.*[-=*_])[ \t|:=*_-]+$/gm, '')
    .replaceAll(/^(?:diff --git .*|index \w+\.\..*|--- [a/].*|\+\+\+ (?:b\/|\/.*)|@@ -.*?@@)/gm, '')
    .replaceAll(/^ {0,3}(?:#{1,6}(?: +|$)|> ?)+/gm, '')
    .replaceAll(/^[ \t]*(?:[-*+] +)?(\d+[.)] +)?(?:\[[ xX]\] +)?/gm, '$1')
    .replaceAll(/^[ \t]*\|.*/gm, (row) => row.replaceAll('|', ' '))
    .replaceAll(/!?\[([^[\]\n]*)\]\((?:[^()\n]|\([^()\n]*\))*\)/g, '$1')
    .replaceAll(/<((?:https?:|mailto:)[^<>\s]+)>/g, '$1')
    .replaceAll(/(\*\*|__|~~)(?=\S)((?:.|\n(?!\n)){0,400}?\S)\1/g, '$2')
    .replaceAll(/(^|[^\w*])([*_])(?=\S)([^*_\n]*?[^\s*_])\2(?![\w*])/g, '$1$3')
    .replaceAll(/\uE000(\d+)\uE001/g, (whole, at: string) => exact[Number(at)] ?? whole);
  return keep === 'lines' ? plain.trim() : plain.replaceAll(/\s+/g, ' ').trim();
}
