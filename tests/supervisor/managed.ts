import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Delivery, TerminalCommand, TerminalOutput } from '@parley/protocol';
import { vi } from 'vitest';

import { freshPath } from '../cli/parley.ts';
import type { Participant, Scene } from '../harness/use-hub.ts';
import { type Person, type PersonOptions, sitDown, supervised } from './person.ts';

/** Patience short enough for tests: the person is quiet after half a second. */
export const HASTY = ['--quiet', '500ms', '--recheck', '100ms', '--max-defer', '3s'];

/** A program under the supervisor, a person before it, and an operator at the hub. */
export interface Managed {
  agent: string;
  person: Person;
  boss: Participant;
  /** Asks the supervisor over the hub, and gives its result. */
  ask<C extends TerminalCommand>(
    command: C,
    parameters?: Record<string, unknown>,
  ): Promise<TerminalOutput<C>>;
  /** The error that the supervisor answers with. */
  refused(
    command: TerminalCommand,
    parameters: Record<string, unknown>,
    as?: Participant,
  ): Promise<{ code: string; message: string; details?: unknown }>;
  deliver(text: string, more?: Record<string, unknown>): Promise<Delivery>;
}

let count = 0;

/** Starts a program under the supervisor, registered at the hub of the scene. */
export async function manage(
  scene: Scene,
  program: string[],
  { options = HASTY, ...more }: PersonOptions & { options?: string[] } = {},
): Promise<Managed> {
  const agent = `agent-${++count}`;
  const file = join(freshPath('.'), 'token');
  writeFileSync(file, scene.as(agent).token, { mode: 0o600 });
  const words = ['--agent', agent, '--url', scene.hub.url, '--token-file', file, '--data', freshPath()];
  const person = await sitDown(supervised(program, [...words, ...options]), more);
  const boss = scene.as('boss', { role: 'operator' });
  const command = (as: Participant, name: string, parameters: Record<string, unknown>) =>
    as.ok('command_agent', { of_agent: agent, command: name, parameters, timeout_ms: 60_000 });
  const managed: Managed = {
    agent,
    person,
    boss,
    async ask(name, parameters = {}) {
      const { success, result, error } = await command(boss, name, parameters);
      if (!success) throw new Error(`${name}: ${JSON.stringify(error)}`);
      return result as never;
    },
    async refused(name, parameters, as = boss) {
      const { error, result } = await command(as, name, parameters);
      if (error === undefined) throw new Error(`${name} succeeded: ${JSON.stringify(result)}`);
      return error;
    },
    deliver: (text, parameters = {}) =>
      managed.ask('terminal_deliver', { delivery_id: `d${++count}`, text, wait_ms: 30_000, ...parameters }),
  };
  await vi.waitFor(() => managed.ask('terminal_state'), { timeout: 30_000, interval: 100 });
  return managed;
}
