import type { InputPiece } from './input-reader.ts';

/** What the person at the terminal has typed since their last Enter. */
export interface Typing {
  note(piece: InputPiece): void;
  /** Keys that somebody elsewhere has typed: they stand at the prompt, and nobody sits at it for them. */
  noteAfar(piece: InputPiece): void;
  /** Something may stand at the prompt that was not sent. */
  readonly hasDraft: boolean;
  /** How long ago the last key was pressed; Infinity when there was none. */
  quietMs(): number;
}

const BACKSPACE = ['\u0008', '\u007f'];
/** Enter of terminals that report every key (the kitty protocol): plain, no Shift or Alt. */
const REPORTED_ENTER = /^\u001b\[13(?:;1)?(?::1)?u$/; // eslint-disable-line no-control-regex
/** Ctrl-C reported the same way. */
const REPORTED_INTERRUPT = /^\u001b\[99;5(?::1)?u$/; // eslint-disable-line no-control-regex

/** Follows a person's keys; where it cannot know what they did to the line, it takes a draft to be there. */
export function createTyping(now: () => number): Typing {
  /** How many characters stand at the prompt; -1 when that is not known. */
  let length = 0;
  let escaped = false;
  let lastKey = -Infinity;

  function sent(): void {
    length = 0;
  }

  function add(count: number): void {
    if (length >= 0) length += count;
  }

  function key(char: string): void {
    // A backslash before Enter makes a new line instead of sending, in agents and shells alike.
    const wasEscaped = escaped;
    escaped = char === '\\';
    if (char === '\r') {
      if (wasEscaped) add(1);
      else sent();
    } else if (char === '\u0003') sent();
    else if (BACKSPACE.includes(char)) {
      if (length > 0) length--;
    } else if (char === '\n' || char >= ' ') {
      // The later bytes of a character are no characters of their own.
      if ((char.charCodeAt(0) & 0xc0) !== 0x80) add(1);
    } else if (char !== '\u0004' && char !== '\f') length = length === 0 && !recalls(char) ? 0 : -1;
  }

  function noteAfar({ kind, text }: InputPiece): void {
    if (kind === 'mouse' || kind === 'reply') return;
    if (kind === 'paste') add(text.length - 12);
    else if (REPORTED_ENTER.test(text) || REPORTED_INTERRUPT.test(text)) sent();
    else if (text.startsWith('\u001b'))
      length = length === 0 && !/[AB]$|u$|^\u001b[\r\n]/.test(text) ? 0 : -1; // eslint-disable-line no-control-regex
    else for (const char of text) key(char);
  }

  return {
    note(piece) {
      if (piece.kind !== 'mouse' && piece.kind !== 'reply') lastKey = now();
      noteAfar(piece);
    },
    noteAfar,
    get hasDraft() {
      return length !== 0;
    },
    quietMs: () => now() - lastKey,
  };
}

/** Control keys that bring text back into an empty line: history, search, yank. */
function recalls(char: string): boolean {
  return '\u0010\u000e\u0012\u0013\u0019\u0016\u000f\u0018\u0007'.includes(char);
}
