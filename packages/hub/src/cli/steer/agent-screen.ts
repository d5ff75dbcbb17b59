import { TERMINAL_COMMANDS, ParleyError, type TerminalOutput } from '@parley/protocol';
import type { Command } from 'commander';

import { addSessionOption, ofSession, tellSeveral } from './agent-session.ts';
import { addConnectOptions, connect } from '../connect.ts';
import { oneLine } from '../harmless.ts';
import { print, tell } from '../output.ts';

const TIMEOUT_MS = 10_000;

/** `parley agent screen`: what stands on the terminal of an agent that runs under `parley run`. */
export function addScreenCommand(agent: Command): void {
  addSessionOption(addConnectOptions(agent.command('screen <agent>')))
    .description('what stands on the terminal of an agent that runs under parley run')
    .addHelpText('after', '\nExample:\n  parley agent screen reviewer')
    .action(async (of_agent: string, { session }: { session?: string }, command: Command) => {
      const { client, json } = await connect(command);
      const screen = await askScreen(() =>
        client.command_agent({
          of_agent,
          ...ofSession(session),
          command: 'terminal_screen',
          timeout_ms: TIMEOUT_MS,
        }),
      );
      const { title, state, lines } = screen;
      if (!json)
        tell(`${of_agent}: ${[state.state, state.detail, title].filter(Boolean).map(String).join(', ')}`);
      print({ json }, screen, () => lines.slice(0, lastUsed(lines)).map(oneLine));
    });
}

async function askScreen(
  ask: () => Promise<{
    success: boolean;
    result?: unknown;
    error?: { code: string; message: string } | undefined;
  }>,
): Promise<TerminalOutput<'terminal_screen'>> {
  const answer = await ask().catch(tellNoTerminal);
  const parsed = TERMINAL_COMMANDS.terminal_screen.output.safeParse(answer.result);
  if (parsed.success) return parsed.data;
  throw new ParleyError(
    'UNAVAILABLE',
    answer.error?.message ?? 'the agent answered with something else than a screen',
  );
}

/** Says of an agent that does not know a terminal's commands what is missing; throws in any case. */
export function tellNoTerminal(error: unknown): never {
  if (!(error instanceof ParleyError) || error.details?.['field'] !== 'payload.command') tellSeveral(error);
  throw new ParleyError('NOT_FOUND', 'this agent has no terminal: start it with parley run');
}

/** How many lines there are without the empty ones at the end. */
function lastUsed(lines: readonly string[]): number {
  return lines.findLastIndex((line) => line.trim() !== '') + 1;
}
