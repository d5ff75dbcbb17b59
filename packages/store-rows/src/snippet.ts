const AROUND = 80;

/** The part of a text around the first word of the query. */
export function snippet(body: string, query: string): string {
  const word = /[\p{L}\p{N}_]+/u.exec(query)?.[0] ?? '';
  const at = Math.max(0, body.toLowerCase().indexOf(word.toLowerCase()));
  const start = Math.max(0, at - AROUND);
  const end = Math.min(body.length, at + word.length + AROUND);
  const cut = body.slice(start, end).toWellFormed().replaceAll(/\s+/g, ' ').trim();
  return `${start > 0 ? '…' : ''}${cut}${end < body.length ? '…' : ''}`;
}
