import { logJson } from '@parley/protocol';

import { openLogOutput } from './log-output.ts';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'];

/** One line of JSON per call: plain fields, then what happened; the secrets in any of them are hidden. */
export type Logger = Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>;

export interface LoggerHandle {
  log: Logger;
  /** Ends the process with the last lines written out, if somebody reads them. */
  end: (exitCode: number) => Promise<never>;
}

const GATHERED_CHARS = 65_536;

const FLUSH_MS = 200;

/** JSON lines on stderr, gathered and written in the background; stdout belongs to data and stdio protocols. */
export function createLogger(level: string): LoggerHandle {
  const output = openLogOutput(2);
  let gathered = '';
  const pass = (): void => {
    if (gathered === '') return;
    const lines = gathered;
    gathered = '';
    output.write(lines);
  };
  let moment = 0;
  let time = '';
  const now = (): string => {
    const at = Date.now();
    if (at !== moment) time = new Date((moment = at)).toISOString();
    return time;
  };
  const reported = LEVELS.slice(LEVELS.indexOf(level));
  const writer = (name: keyof Logger): Logger[typeof name] => {
    if (!reported.includes(name)) return () => {};
    return (fields, message) => {
      const inner = logJson(fields).slice(1, -1);
      gathered += `{"level":"${name}","time":"${now()}",${inner}${inner === '' ? '' : ','}"msg":${logJson(message)}}\n`;
      if (gathered.length >= GATHERED_CHARS) pass();
    };
  };
  setInterval(pass, FLUSH_MS).unref();
  return {
    log: { debug: writer('debug'), info: writer('info'), warn: writer('warn'), error: writer('error') },
    end(exitCode) {
      pass();
      return output.end(exitCode);
    },
  };
}
