import { ParleyError } from '@parley/protocol';
import type { Command } from 'commander';

/** Adds the option by which a command says which of several sessions of one agent it means. */
export function addSessionOption(command: Command): Command {
  return command.option('--session <id>', 'one of its sessions, where several run under its name');
}

/** The session as the hub is told. */
export function ofSession(session: string | undefined): { of_session?: string } {
  return session === undefined ? {} : { of_session: session };
}

/** Says of an agent with several sessions how to name one; throws in any case. */
export function tellSeveral(error: unknown): never {
  const { reason, sessions } = error instanceof ParleyError ? (error.details ?? {}) : {};
  if (reason !== 'several_sessions' || !Array.isArray(sessions)) throw error;
  throw new ParleyError(
    'CONFLICT',
    `${sessions.length} sessions run under this name; say which with --session: ${sessions.join(', ')}`,
  );
}
