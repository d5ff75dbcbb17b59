import type { Span } from './blobs.ts';

/** The part that a Range header asks for: undefined for the whole, `none` where no byte of it is there. */
export function spanOf(header: string | undefined, bytes: number): Span | 'none' | undefined {
  // Several parts at once are not served in parts; a server may answer with the whole.
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null || (match[1] === '' && match[2] === '')) return undefined;
  const [from, to] = [match[1] ?? '', match[2] ?? ''];
  if (from === '') {
    const count = Math.min(Number(to), bytes);
    return count === 0 ? 'none' : { first: bytes - count, last: bytes - 1 };
  }
  const first = Number(from);
  const last = to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (to !== '' && Number(to) < first) return undefined;
  return first >= bytes ? 'none' : { first, last };
}
