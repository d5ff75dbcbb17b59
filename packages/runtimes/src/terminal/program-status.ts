/** What a program says of itself by OSC 7501, the Program Status Protocol. */
export interface ProgramStatus {
  state: 'working' | 'idle' | 'blocked';
  /** What it waits for, such as permission or question. */
  kind?: string;
  /** Its own words, such as the command it wants to run. */
  message?: string;
}

const STATES: Record<string, ProgramStatus['state']> = {
  working: 'working',
  idle: 'idle',
  done: 'idle',
  blocked: 'blocked',
};
const MESSAGE_CHARS = 500;

/** Reads one report; undefined when the program takes its word back or says something else. */
export function parseProgramStatus(report: string): ProgramStatus | undefined {
  const fields = new Map(
    report.split(':').map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
  const word = fields.get('state') ?? '';
  const state = Object.hasOwn(STATES, word) ? STATES[word] : undefined;
  if (state === undefined) return undefined;
  const kind = fields.get('kind');
  const message = fields.get('msg');
  return {
    state,
    ...(kind === undefined ? {} : { kind: kind.slice(0, 64) }),
    ...(message === undefined
      ? {}
      : { message: Buffer.from(message, 'base64').toString('utf8').slice(0, MESSAGE_CHARS) }),
  };
}
