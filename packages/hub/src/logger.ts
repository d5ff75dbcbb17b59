import { SonicBoom } from 'sonic-boom';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/** One line of JSON per call: plain fields, then what happened. */
export type Logger = Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>;

const SECRET =
  /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*|Bearer\s+[A-Za-z0-9._~+/=-]+|bearer\.[A-Za-z0-9._~+/=-]+|\btoken=[^&\s"]+/g;

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

const GATHERED_CHARS = 65_536;

const FLUSH_MS = 200;

/** JSON lines on stderr, gathered and written in the background; stdout belongs to data and stdio protocols. */
export function createLogger(level: string): LoggerHandle {
  const destination = new SonicBoom({ fd: 2, sync: false });
  // A closed stderr must not end the hub.
  destination.on('error', () => {});
  let gathered = '';
  // The destination measures all it holds at every write: it gets few large ones.
  const pass = (): void => {
    if (gathered === '') return;
    const lines = gathered;
    gathered = '';
    destination.write(lines);
  };
  let moment = 0;
  let time = '';
  const now = (): string => {
    const at = Date.now();
    if (at !== moment) time = new Date((moment = at)).toISOString();
    return time;
  };
  const told = LEVELS.slice(LEVELS.indexOf(level));
  const writer = (name: keyof Logger): Logger[typeof name] => {
    if (!told.includes(name)) return () => {};
    return (fields, message) => {
      const inner = JSON.stringify(fields).slice(1, -1);
      gathered += `{"level":"${name}","time":"${now()}",${inner}${inner === '' ? '' : ','}"msg":${JSON.stringify(message)}}\n`;
      if (gathered.length >= GATHERED_CHARS) pass();
    };
  };
  setInterval(pass, FLUSH_MS).unref();
  return {
    log: { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') },
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
