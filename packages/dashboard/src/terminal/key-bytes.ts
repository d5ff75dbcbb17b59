/** As much of a pressed key as tells what a terminal would send. */
export interface PressedKey {
  key: string;
  ctrlKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

const ESC = '\u001b';

/** The last letter of keys that move the cursor. */
const MOVES: Readonly<Record<string, string>> = {
  ArrowUp: 'A',
  ArrowDown: 'B',
  ArrowRight: 'C',
  ArrowLeft: 'D',
  Home: 'H',
  End: 'F',
};

const NUMBERED: Readonly<Record<string, number>> = {
  Insert: 2,
  Delete: 3,
  PageUp: 5,
  PageDown: 6,
  F5: 15,
  F6: 17,
  F7: 18,
  F8: 19,
  F9: 20,
  F10: 21,
  F11: 23,
  F12: 24,
};

const FIRST_FOUR: Readonly<Record<string, string>> = { F1: 'P', F2: 'Q', F3: 'R', F4: 'S' };

/** Ctrl with what is no letter. */
const CONTROLS: Readonly<Record<string, string>> = {
  ' ': '\u0000',
  '@': '\u0000',
  '[': ESC,
  '\\': '\u001c',
  ']': '\u001d',
  '^': '\u001e',
  '/': '\u001f',
  _: '\u001f',
};

/** What a terminal sends for a key; undefined for a plain character, which comes as text, and for keys that send nothing. */
export function keyBytes(
  { key, ctrlKey, altKey, shiftKey }: PressedKey,
  appCursor: boolean,
): string | undefined {
  const held = 1 + (shiftKey ? 1 : 0) + (altKey ? 2 : 0) + (ctrlKey ? 4 : 0);
  const move = MOVES[key];
  if (move !== undefined)
    return held > 1 ? `${ESC}[1;${held}${move}` : `${ESC}${appCursor ? 'O' : '['}${move}`;
  const number = NUMBERED[key];
  if (number !== undefined) return `${ESC}[${number}${held > 1 ? `;${held}` : ''}~`;
  const first = FIRST_FOUR[key];
  if (first !== undefined) return held > 1 ? `${ESC}[1;${held}${first}` : `${ESC}O${first}`;
  const before = altKey ? ESC : '';
  // Shift+Enter begins a line, as agents take Ctrl+J.
  if (key === 'Enter') return `${before}${shiftKey ? '\n' : '\r'}`;
  if (key === 'Tab') return shiftKey ? `${ESC}[Z` : `${before}\t`;
  if (key === 'Escape') return `${before}${ESC}`;
  if (key === 'Backspace') return `${before}${ctrlKey ? '\u0008' : '\u007f'}`;
  if (!/^.$/u.test(key)) return undefined;
  if (ctrlKey) {
    const control = /^[a-z]$/i.test(key)
      ? String.fromCharCode(key.toLowerCase().charCodeAt(0) & 0x1f)
      : CONTROLS[key];
    return control === undefined ? undefined : before + control;
  }
  return altKey ? before + key : undefined;
}

/** Typed text as a terminal sends it: a new line is Enter, and what steers is left out. */
export function textBytes(text: string): string {
  return withoutControls(text.replaceAll(/\r\n?|\n/g, '\r'));
}

/** Pasted text as a terminal sends it; between markers where the program takes them, which nothing inside can end. */
export function pasteBytes(text: string, hasMarkers: boolean): string {
  const harmless = textBytes(text);
  return hasMarkers ? `${ESC}[200~${harmless}${ESC}[201~` : harmless;
}

function withoutControls(text: string): string {
  // eslint-disable-next-line no-control-regex -- these are what is left out.
  return text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '');
}
