/** The node at which a session began; undefined where its id names none. */
export function nodeOfSession(id: string | string[] | undefined): string | undefined {
  const [node, rest] = typeof id === 'string' ? id.split('.') : [];
  return rest === undefined ? undefined : node;
}
