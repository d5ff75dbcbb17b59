import { RuntimeError } from '../runtime-error.ts';
import { publicText } from '../public-text.ts';
import { openChild } from './child.ts';
import { isObject, type Loose } from './rpc-peer.ts';

/** A run of an agent's program without a terminal: one prompt, one turn, one process. */
export interface HeadlessTurn {
  readonly pid: number;
  /** The runtime itself says that it works on the prompt, and in which session; throws where it never did. */
  started: Promise<{ sessionId: string }>;
  /** How it ended, in a few words. */
  ended: Promise<{ ok: boolean; detail: string }>;
  stop(): Promise<void>;
}

/** What a runtime's own events mean; each sees every line in turn. */
export interface HeadlessEvents {
  session: (event: Loose) => string | undefined;
  isWorking: (event: Loose) => boolean;
  /** Undefined until the turn has ended. */
  end: (event: Loose) => { ok: boolean; detail: string } | undefined;
}

export interface HeadlessOptions {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  prompt: string;
  /** The session that must take it; another one ends the run. */
  expects: string | undefined;
  events: HeadlessEvents;
}

const BOUNDS = { maxLineBytes: 8_388_608, maxBacklogBytes: 1_048_576 };
const GRACE = { eofMs: 0, termMs: 3_000 };

/** Starts a program whose prompt goes in by its input, and whose events come out as JSON lines. */
export async function startHeadless(options: HeadlessOptions): Promise<HeadlessTurn> {
  const { expects, events } = options;
  let sessionId: string | undefined;
  let working = false;
  let outcome: { ok: boolean; detail: string } | undefined;
  let begin: (session: { sessionId: string }) => void = () => {};
  let refuse: (error: RuntimeError) => void = () => {};
  let finish: (end: { ok: boolean; detail: string }) => void = () => {};
  const started = new Promise<{ sessionId: string }>((resolve, reject) => {
    begin = resolve;
    refuse = reject;
  });
  const ended = new Promise<{ ok: boolean; detail: string }>((resolve) => (finish = resolve));
  started.catch(() => {});
  const stop = async (): Promise<void> => void (await child.close(GRACE));

  const child = await openChild({
    ...BOUNDS,
    command: options.command,
    args: options.args,
    env: options.env,
    cwd: options.cwd,
    onLine(line) {
      const event = parse(line);
      if (event === undefined) return;
      sessionId ??= events.session(event);
      if (sessionId !== undefined && expects !== undefined && sessionId !== expects) {
        refuse(new RuntimeError('REFUSED', 'the runtime took up another session'));
        void stop();
        return;
      }
      working ||= events.isWorking(event);
      if (working && sessionId !== undefined) begin({ sessionId });
      const end = events.end(event);
      if (end !== undefined) outcome = { ...end, detail: publicText(end.detail, 300) };
    },
    onOversized: () => {},
    onExit(exit) {
      const said = exit.stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
      const how = exit.signal === null ? `exit ${exit.code}` : `ended by ${exit.signal}`;
      const detail = outcome?.detail ?? said;
      refuse(new RuntimeError('CHILD_EXITED', detail === '' ? how : `${how}: ${detail}`, { exit }));
      const ok = exit.code === 0 && outcome?.ok !== false;
      finish({ ok, detail: ok ? (outcome?.detail ?? how) : detail === '' ? how : `${how}: ${detail}` });
    },
  });
  child.write(options.prompt);
  child.endInput();
  return { pid: child.pid, started, ended, stop };
}

function parse(line: string): Loose | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
