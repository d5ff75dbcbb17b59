import { isSealed } from '@parley/core';
import {
  type Claims,
  ParleyError,
  TERMINAL_COMMANDS,
  type TerminalCommand,
  type TerminalOutput,
} from '@parley/protocol';

import type { TerminalFaceOptions } from './options.ts';

/** What became of a question to a terminal. */
export type Asked<A = never> =
  | { is: 'answered'; answer: A }
  | { is: 'refused'; code: string; message: string; sessions?: string[] | undefined }
  /** Its session is not connected just now, or was lost in the midst. */
  | { is: 'away'; message: string };

/** The way of one viewer to one terminal: what begins something is on record, what only goes on with it is not. */
export interface TerminalLine {
  /** The first look is on record. */
  look(parameters: Record<string, unknown>): Promise<Asked<TerminalOutput<'terminal_watch'>>>;
  /** On record, in the name of the viewer. */
  ask<C extends TerminalCommand>(
    name: C,
    parameters: Record<string, unknown>,
  ): Promise<Asked<TerminalOutput<C>>>;
  /** Part of what is on record. */
  aside<C extends TerminalCommand>(
    name: C,
    parameters: Record<string, unknown>,
  ): Promise<Asked<TerminalOutput<C>>>;
}

const ANSWER_MS = 10_000;
/** Why there is no answer that may come a moment later. */
const PASSING = new Set(['agent_offline', 'task_timeout', 'at_capacity', 'slow_reader']);

/** Asks over the one port of all commands, which leads to whichever node the session is connected to. */
export function createTerminalLine(
  caller: Claims,
  target: { of_agent: string; of_session?: string },
  signal: AbortSignal,
  { hub, live, context, newId }: TerminalFaceOptions,
): TerminalLine {
  let isOnRecord = false;

  const line: TerminalLine = {
    async look(parameters) {
      if (isOnRecord) return line.aside('terminal_watch', parameters);
      const first = await line.ask('terminal_watch', parameters);
      isOnRecord = first.is === 'answered';
      return first;
    },
    async ask(command, parameters) {
      const input = { ...target, command, parameters, timeout_ms: ANSWER_MS };
      try {
        return read(command, await hub.call(caller, 'command_agent', input, context(signal)));
      } catch (error) {
        return refusalOf(error);
      }
    },
    async aside(command, parameters) {
      const wait = Number(parameters['wait_ms'] ?? 0);
      const ended = await live.command({
        caller,
        command_id: newId(),
        ...target,
        body: { command, parameters },
        timeout_ms: wait + ANSWER_MS,
        aside: true,
      });
      if (ended.outcome === 'answered')
        return isSealed(ended.response) ? strange() : read(command, ended.response);
      if (ended.outcome === 'refused')
        return refusalOf(new ParleyError(ended.code, ended.message, ended.details));
      if (ended.outcome !== 'failed') return { is: 'away', message: ended.message };
      return isSealed(ended.error) ? strange() : { is: 'refused', ...ended.error };
    },
  };
  return line;
}

interface Response {
  success: boolean;
  result?: unknown;
  error?: { code: string; message: string } | undefined;
}

/** What an agent answers is data like any other: it counts as far as it has the form of its command. */
function read<C extends TerminalCommand>(
  command: C,
  { success, result, error }: Response,
): Asked<TerminalOutput<C>> {
  if (!success) return { is: 'refused', code: error?.code ?? 'UNAVAILABLE', message: error?.message ?? '' };
  const parsed = TERMINAL_COMMANDS[command].output.safeParse(result);
  // It was parsed by the schema of this very command.
  return parsed.success ? { is: 'answered', answer: parsed.data as TerminalOutput<C> } : strange();
}

function strange(): Asked {
  return {
    is: 'refused',
    code: 'UNAVAILABLE',
    message: 'the agent answered with something else than a screen',
  };
}

function refusalOf(error: unknown): Asked {
  if (!(error instanceof ParleyError)) throw error;
  const { code, message, details = {} } = error;
  const { reason, sessions } = details;
  if (typeof reason === 'string' && PASSING.has(reason)) return { is: 'away', message };
  if (reason === 'not_listed')
    return {
      is: 'refused',
      code: 'NOT_FOUND',
      message: 'this agent has no terminal: start it with parley run',
    };
  const several = Array.isArray(sessions) ? { sessions: sessions.map(String) } : {};
  return { is: 'refused', code, message, ...several };
}
