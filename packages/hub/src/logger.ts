import { logJson } from '@parley/protocol';
import { SonicBoom } from 'sonic-boom';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/** One line of JSON per call: plain fields, then what happened; the secrets in any of them are hidden. */
export type Logger = Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>;

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
      const inner = logJson(fields).slice(1, -1);
      gathered += `{"level":"${name}","time":"${now()}",${inner}${inner === '' ? '' : ','}"msg":${logJson(message)}}\n`;
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
