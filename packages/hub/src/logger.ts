import { pino, type Logger as PinoLogger } from 'pino';

export type Logger = Pick<PinoLogger, 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'child'>;

const SECRET = /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*|Bearer\s+[A-Za-z0-9._~+/=-]+/g;

/** What a terminal would obey or a reader be fooled by, and JSON leaves as it is: C1, DEL, line separators, bidi. */
const UNSEEN = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Makes a text from outside fit for the log: nothing that looks like a token, nothing that acts on a terminal. */
export function redact(text: string): string {
  return text
    .replaceAll(SECRET, '[redacted]')
    .replaceAll(UNSEEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export interface LoggerHandle {
  log: Logger;
  /** Writes out what is buffered, before the process ends. */
  flush: () => void;
}

const GATHERED_CHARS = 8_192;

/** JSON lines on stderr, gathered and written in the background; stdout belongs to data and stdio protocols. */
export function createLogger(level: string, bindings: Record<string, unknown> = {}): LoggerHandle {
  const destination = pino.destination({ fd: 2, sync: false });
  // A closed stderr must not end the hub.
  destination.on('error', () => {});
  // The destination measures all it holds at every write: it gets few large ones.
  let gathered = '';
  const pass = (): void => {
    if (gathered === '') return;
    const lines = gathered;
    gathered = '';
    destination.write(lines);
  };
  const gather = {
    write(line: string) {
      gathered += line;
      if (gathered.length >= GATHERED_CHARS) pass();
    },
  };
  const log = pino(
    {
      level,
      base: bindings,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    gather,
  );
  const timer = setInterval(pass, 200);
  timer.unref();
  return {
    log,
    flush() {
      try {
        pass();
        destination.flushSync();
      } catch {
        // stderr may be gone.
      }
    },
  };
}
