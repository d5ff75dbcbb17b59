import { createInputReader, type InputPiece } from '@parley/runtimes';

/** Passes a person's keys on to the program, and can keep them back for a moment. */
export interface Keyboard {
  take(bytes: string): void;
  /** Keeps keys back until the returned function is called; what the terminal answers by itself still passes. */
  hold(): () => void;
}

/** A lone Escape is told from the beginning of a sequence by what follows within this time. */
const ESCAPE_MS = 50;

/** Reads what the person does while it passes. */
export function createKeyboard(deps: {
  write: (bytes: Buffer) => void;
  onPiece: (piece: InputPiece) => void;
}): Keyboard {
  const reader = createInputReader();
  let holds = 0;
  let held = '';
  /** So much of what the reader has not told apart yet has gone to the program already. */
  let gone = 0;
  let timer: NodeJS.Timeout | undefined;

  const send = (text: string): void => {
    if (text !== '') deps.write(Buffer.from(text, 'latin1'));
  };

  function note(pieces: InputPiece[]): void {
    for (const piece of pieces) {
      deps.onPiece(piece);
      const text = piece.text.slice(gone);
      gone = Math.max(0, gone - piece.text.length);
      if (holds === 0) continue;
      if (piece.kind === 'reply') send(text);
      else held += text;
    }
  }

  return {
    take(bytes) {
      clearTimeout(timer);
      if (holds === 0) {
        send(bytes);
        note(reader.take(bytes));
        gone = reader.pending.length;
      } else note(reader.take(bytes));
      if (reader.pending !== '') timer = setTimeout(() => note(reader.flush()), ESCAPE_MS);
    },
    hold() {
      holds++;
      gone = reader.pending.length;
      return () => {
        if (--holds > 0) return;
        // The first half of a sequence goes too: its rest passes as it comes.
        send(held + reader.pending.slice(gone));
        held = '';
        gone = reader.pending.length;
      };
    },
  };
}
