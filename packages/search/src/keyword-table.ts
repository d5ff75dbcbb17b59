/** The keyword index of one workspace: how rare a word is counts within it alone. */
export function keywordTable(workspace: number): string {
  return `words_${workspace}`;
}
