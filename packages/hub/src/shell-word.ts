/** A word as a shell takes it, for lines that a person pastes or another program hands to one. */
export function quote(text: string): string {
  return /^[\w./~:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
