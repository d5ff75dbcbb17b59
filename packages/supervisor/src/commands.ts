import type { CommandHandler, CommandSource } from '@parley/client';
import {
  HUB_NAME,
  ParleyError,
  type TerminalCommand,
  type TerminalInput,
  type TerminalOutput,
  keysOf,
  tableOf,
  issueWords,
} from '@parley/protocol';
import type { Door, Pty, Screen } from '@parley/runtimes';

import type { ScreenWatch } from './screen-watch.ts';
import type { TakeOver } from './take-over.ts';

/** What the commands of a hub act upon. */
export interface RunningTerminal {
  door: Door;
  pty: Pty;
  screen: Screen;
  watch: ScreenWatch;
  takeOver: TakeOver;
  program: string;
  kind: string;
  /** Counts keys from elsewhere as a person's. */
  noteKeys: (keys: string) => void;
  /** How long the person has pressed no key, and how long that must be. */
  quietMs: () => number;
  quietWindowMs: number;
}

type Acts = {
  [C in TerminalCommand]: (
    terminal: RunningTerminal,
    input: TerminalInput<C>,
    source: CommandSource,
  ) => TerminalOutput<C> | Promise<TerminalOutput<C>>;
};

/** No answer of a screen is longer than a message may be. */
const LINE_CHARS = 400;

const ACTS: Acts = {
  async terminal_deliver({ door }, { delivery_id, text, mode, operator, audit, wait_ms }, source) {
    if (mode === 'force') mustBeOperator('force', source, { operator, audit });
    return door.deliver({ delivery_id, text, mode }, wait_ms);
  },
  terminal_cancel: ({ door }, { delivery_id }) => ({ cancelled: door.cancel(delivery_id) }),
  async terminal_screen({ screen, door }) {
    await screen.settled();
    const { lines, ...view } = screen.view();
    return { ...view, lines: lines.map((line) => line.slice(0, LINE_CHARS)), state: door.state() };
  },
  async terminal_watch({ watch, takeOver }, { since, wait_ms, lock_id }, { agentId }) {
    const fate = (): { yours?: ReturnType<TakeOver['fate']> } =>
      lock_id === undefined ? {} : { yours: takeOver.fate(lock_id, agentId) };
    // Whoever asks is there now, however long the answer takes.
    fate();
    return { ...(await watch.next(since, wait_ms)), ...fate() };
  },
  async terminal_state({ program, kind, pty, door, screen, takeOver, quietMs }) {
    await screen.settled();
    const quiet = quietMs();
    const no_prompt = door.noPrompt();
    return {
      program,
      kind,
      pid: pty.pid,
      state: door.state(),
      draft: door.hasDraft(),
      quiet_ms: Number.isFinite(quiet) ? Math.round(quiet) : null,
      ...(no_prompt === undefined ? {} : { no_prompt }),
      deferred: door.deferred(),
      lock: takeOver.held,
    };
  },
  async terminal_lock(
    { takeOver, door, screen, quietMs, quietWindowMs },
    { ttl_ms: ttlMs, lease_ms: leaseMs, lock_id: lockId, force, operator, audit },
    source,
  ) {
    mustBeOperator('taking over', source, force ? { operator, audit } : undefined);
    await screen.settled();
    if (!force && takeOver.held === null && lockId === undefined) {
      const quiet = quietMs();
      const inTheWay =
        quiet < quietWindowMs
          ? `somebody pressed a key at the machine ${Math.round(quiet / 1_000)} s ago`
          : door.hasDraft()
            ? 'a line that was begun stands there and was not sent'
            : undefined;
      if (inTheWay !== undefined)
        throw new ParleyError('HUMAN_INPUT_COLLISION', `${inTheWay}; force takes over all the same`, {
          reason: 'human_input_busy',
        });
    }
    return takeOver.take({ holder: source.agentId, ttlMs, leaseMs, lockId });
  },
  terminal_type({ takeOver, pty, noteKeys }, { lock_id, keys }, source) {
    takeOver.check(lock_id, source.agentId);
    if (pty.ended) throw new ParleyError('WAKE_FAILED', 'the program has ended', { reason: 'program_ended' });
    if (pty.full)
      throw new ParleyError('UNAVAILABLE', 'the program does not read what is typed', { reason: 'not_read' });
    pty.write(keys);
    noteKeys(keys);
    return { typed: Buffer.byteLength(keys) };
  },
  terminal_unlock: ({ takeOver }, { lock_id, lost }, source) => ({
    released: takeOver.release(lock_id, source.agentId, lost ? 'lost' : 'given_back'),
  }),
};

const NAMES = keysOf(ACTS);

/** Commands that only look: their answers are large, and to answer one again does no harm. */
export const LOOKS: readonly TerminalCommand[] = ['terminal_screen', 'terminal_watch', 'terminal_state'];

/** The handlers of every command, checked by schema; they wait until there is a terminal to act upon. */
export function createCommands(terminal: Promise<RunningTerminal>): Record<TerminalCommand, CommandHandler> {
  const handler =
    <C extends TerminalCommand>(name: C): CommandHandler =>
    async (parameters, source) => {
      // With the first command: most programs are never sent one, and the schemas are not small.
      const { TERMINAL_COMMANDS } = await import('@parley/protocol/terminal');
      const parsed = TERMINAL_COMMANDS[name].input.safeParse(parameters);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        const field = issue?.path.join('.') ?? '';
        throw new ParleyError('VALIDATION_ERROR', `${field}: ${issueWords(issue, parameters)}`, { field });
      }
      // It was parsed by the schema of this very command.
      return ACTS[name](await terminal, parsed.data as TerminalInput<C>, source);
    };
  return tableOf(NAMES, (name) => handler(name));
}

/** The handlers where there is no terminal to act upon: each says so. */
export function createRefusals(program: string): Record<string, CommandHandler> {
  const refuse = (): never => {
    throw new ParleyError(
      'WAKE_FAILED',
      `${program} was started without a terminal, and nothing can be typed into it`,
      {
        reason: 'program_closed',
      },
    );
  };
  return Object.fromEntries(NAMES.map((name) => [name, refuse]));
}

/** What overrides a person needs an operator who says who they are and why. */
function mustBeOperator(
  what: string,
  { agentId, role }: CommandSource,
  said?: { operator: string | undefined; audit: Record<string, unknown> | undefined },
): void {
  if (role !== 'operator')
    throw new ParleyError(
      'INSUFFICIENT_AUTHORITY',
      `${what} is for operators only, and ${agentId} is ${role ?? 'unknown'}`,
    );
  if (said === undefined) return;
  if (said.operator === undefined || said.audit === undefined || Object.keys(said.audit).length === 0)
    throw new ParleyError('VALIDATION_ERROR', `${what} must name the operator, and why in audit`, {
      field: said.operator === undefined ? 'operator' : 'audit',
    });
  if (agentId !== HUB_NAME && said.operator !== agentId)
    throw new ParleyError('CLAIM_MISMATCH', `operator: ${said.operator} is not the sender, ${agentId}`, {
      field: 'operator',
    });
}
