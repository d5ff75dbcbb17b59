/** A piece of what comes from a person's terminal; its text holds one byte per character. */
export interface InputPiece {
  /** `key`: pressed by the person. `paste`: pasted text, between its markers. `mouse`; `reply`: the terminal's own answer, or its focus. */
  kind: 'key' | 'paste' | 'mouse' | 'reply';
  text: string;
}

/** Tells what a person does from what their terminal answers by itself. */
export interface InputReader {
  take(bytes: string): InputPiece[];
  /** What has begun and is not whole yet: a lone Escape, or the first half of a sequence. */
  readonly pending: string;
  /** Gives up waiting for the rest: it was a lone Escape. */
  flush(): InputPiece[];
}

const PASTE_START = '\u001b[200~';
const PASTE_END = '\u001b[201~';
/* eslint-disable no-control-regex -- these are terminal sequences */
/** A whole control sequence: CSI with its final byte, SS3 with one letter. */
const CSI = /^\u001b\[[0-?]*[ -/]*[@-~]/;
const SS3 = /^\u001bO[ -~]/;
/** A string of the terminal: OSC, DCS, APC, PM, SOS up to its end. */
const STRING = /^\u001b[\]P_^X][\s\S]*?(?:\u0007|\u001b\\)/;
const STRING_START = /^\u001b[\]P_^X]/;
const CSI_START = /^\u001b\[[0-?]*[ -/]*$/;
/** Cursor position, device attributes, mode and keyboard reports, window size, focus in and out. */
const REPLY = /^\u001b\[(?:\d+;\d+R|\?[\d;]*R|[?>=][\d;:]*c|\??[\d;]*\$y|\?\d*u|[\d;]+t|\?[\d;]*n|0n|[IO])$/;
const MOUSE = /^\u001b\[(?:<[\d;]+[Mm]|M)$/;
/* eslint-enable no-control-regex */
const LONGEST = 65_536;

/** Reads the input of a terminal piece by piece, also where a sequence comes in parts. */
export function createInputReader(): InputReader {
  let rest = '';

  function next(): InputPiece | undefined {
    if (rest === '') return undefined;
    if (rest[0] !== '\u001b') {
      const end = rest.indexOf('\u001b');
      return piece('key', end < 0 ? rest : rest.slice(0, end));
    }
    if (rest.startsWith(PASTE_START)) {
      const end = rest.indexOf(PASTE_END);
      return end < 0 ? undefined : piece('paste', rest.slice(0, end + PASTE_END.length));
    }
    const text = (STRING.exec(rest) ?? CSI.exec(rest) ?? SS3.exec(rest))?.[0];
    if (text === '\u001b[M') return rest.length < 6 ? undefined : piece('mouse', rest.slice(0, 6));
    if (text !== undefined) return piece(kindOfSequence(text), text);
    if (rest.length > LONGEST) return piece('key', rest);
    if (rest === '\u001b' || rest === '\u001bO' || STRING_START.test(rest) || CSI_START.test(rest))
      return undefined;
    // Escape and a key: Alt with that key.
    return piece('key', rest.slice(0, 2));
  }

  function piece(kind: InputPiece['kind'], text: string): InputPiece {
    rest = rest.slice(text.length);
    return { kind, text };
  }

  function drain(): InputPiece[] {
    const pieces: InputPiece[] = [];
    for (let found = next(); found !== undefined; found = next()) pieces.push(found);
    return pieces;
  }

  return {
    take(bytes) {
      rest += bytes;
      return drain();
    },
    get pending() {
      return rest;
    },
    flush() {
      if (rest === '' || rest.startsWith(PASTE_START)) return [];
      const text = rest;
      rest = '';
      return [{ kind: 'key', text }];
    },
  };
}

function kindOfSequence(text: string): InputPiece['kind'] {
  if (STRING_START.test(text)) return 'reply';
  if (MOUSE.test(text)) return 'mouse';
  return REPLY.test(text) ? 'reply' : 'key';
}
