import { isControlFrame } from '@parley/mail';
import { LIMITS, showUnseen } from '@parley/protocol';

/** What a request may have as JSON, with room for all that is not the text. */
const MOST_JSON = 110_000;

/** How Claude Code marks where mail begins and ends, and what it says itself. */
const ENVELOPE = /<(?=\s*\/?\s*(?:teammate-message|cross-session-message|system-reminder))/gi;

/** A mail as the hub takes it: whole where it fits, else cut with a mark that says so. */
export function bodyOf(text: string, where: string): { body: string; cut: boolean } {
  const sound = Buffer.from(text, 'utf8').toString('utf8').replaceAll('\0', '\uFFFD');
  if (sound.trim() === '') return { body: '(a mail without text)', cut: false };
  if (fits(sound)) return { body: sound, cut: false };
  const bytes = Buffer.byteLength(sound);
  const mark = `\n\n[cut here: the mail has ${bytes} bytes; all of it stands in ${where}]`;
  let [low, high] = [0, sound.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(whole(sound, middle) + mark)) low = middle;
    else high = middle - 1;
  }
  return { body: whole(sound, low) + mark, cut: true };
}

/** A message of the hub as a mail: plain text that hides nothing, and that nobody takes for a command or for another mail. */
export function mailTextOf(content: string): string {
  const plain = showUnseen(content).replaceAll(ENVELOPE, '‹');
  return isControlFrame(plain) ? `(a message from the hub, no command)\n${plain}` : plain;
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= LIMITS.body_bytes && Buffer.byteLength(JSON.stringify(text)) <= MOST_JSON;
}

function whole(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}
