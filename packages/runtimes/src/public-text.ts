import { hideSecrets } from '@parley/protocol';

/** A text as a store takes it: no longer than so many characters, whole ones, without NUL. */
export function clip(text: string, most: number): string {
  const sound = Buffer.from(text.slice(0, most + 1), 'utf8')
    .toString('utf8')
    .replaceAll('\0', '\uFFFD');
  return sound.length <= most ? sound : `${sound.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

/** What may stand in a record that others read: clipped, and without what looks like a secret. */
export function publicText(text: string, most = 2_000): string {
  return clip(hideSecrets(text), most);
}

/** The first line of a text, for a title. */
export function headline(text: string): string {
  return publicText(text.trim().split('\n', 1)[0] ?? '', 120);
}
