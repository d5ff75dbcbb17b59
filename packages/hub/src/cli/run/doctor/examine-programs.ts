import { existsSync, readFileSync } from 'node:fs';

import { type DoorName, type Family, LADDERS } from '@parley/core';
import { kindOf, whichProgram } from '@parley/runtimes';

import { untried } from '../../../wake/versions.ts';
import type { Check } from './check.ts';
import { oneLine } from '../../harmless.ts';
import { programVersion } from '../program-version.ts';
import { claudeSettingsFile, hasClaudeHooks } from '../init/claude-settings.ts';
import { CLIENTS } from '../init/clients.ts';
import { FILE_CLIENTS, registeredInFile } from '../init/file-clients.ts';
import { readJsonText } from '../init/json-text.ts';

/** An agent's program on this machine: whether our tools are registered there, and which doors its version opens. */
export interface FoundProgram {
  name: string;
  path: string;
  version: string | null;
  registered: boolean;
  doors: { door: DoorName; open: boolean; reason?: string }[];
}

const SERVER = 'parley';

interface KnownProgram {
  name: string;
  family: Family;
  isRegistered: (path: string) => Promise<boolean>;
  /** What registers our tools there, where it is not `parley init` with its name. */
  init?: string;
}

const PROGRAMS: KnownProgram[] = [
  { name: 'codex', family: 'codex', isRegistered: (path) => inClient('codex', path) },
  { name: 'claude', family: 'claude', isRegistered: (path) => inClient('claude', path) },
  { name: 'gemini', family: 'other', isRegistered: async () => inFile('gemini') },
  { name: 'opencode', family: 'other', isRegistered: async () => inFile('opencode') },
  { name: 'copilot', family: 'other', isRegistered: async () => false, init: 'mcp' },
];

async function inClient(name: keyof typeof CLIENTS, path: string): Promise<boolean> {
  return (await CLIENTS[name].registered(SERVER, path)) !== undefined;
}

function inFile(name: keyof typeof FILE_CLIENTS): boolean {
  return registeredInFile(FILE_CLIENTS[name], SERVER, readIfThere) !== undefined;
}

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

function isHooked(): boolean {
  const file = claudeSettingsFile('user');
  try {
    return hasClaudeHooks(readJsonText(readIfThere(file), file), SERVER);
  } catch {
    return false;
  }
}

/** Looks for agents' programs; none is needed, so none is ever missing, and nothing of ours is started. */
export async function findPrograms(): Promise<FoundProgram[]> {
  const found = await Promise.all(
    PROGRAMS.map(async ({ name, family, isRegistered }): Promise<FoundProgram[]> => {
      const path = whichProgram(name, process.env['PATH'] ?? '', process.cwd());
      if (path === undefined) return [];
      const [version, registered] = await Promise.all([programVersion(path), isRegistered(path)]);
      const doors = LADDERS[family]
        .filter(({ door }) => door !== 'command' || family === 'claude')
        .map(({ door }) => {
          const reason = shutFor({ name, family, door, version, registered });
          return { door, open: reason === undefined, ...(reason === undefined ? {} : { reason }) };
        });
      return [{ name, path, version: version ?? null, registered, doors }];
    }),
  );
  return found.flat();
}

function shutFor(about: {
  name: string;
  family: Family;
  door: DoorName;
  version: string | undefined;
  registered: boolean;
}): string | undefined {
  const { name, family, door, version, registered } = about;
  const isMissing = (door === 'command' && !registered) || (door === 'claude_hook' && !isHooked());
  if (isMissing) return 'not_registered';
  if (door === 'supervisor' && kindOf(name) === 'closed') return 'program_closed';
  return untried(door, version, family);
}

/** One line for each program, installed or not. */
export function programChecks(found: readonly FoundProgram[]): Check[] {
  return PROGRAMS.map(({ name }) => {
    const program = found.find((one) => one.name === name);
    return { name, ok: true, detail: program === undefined ? 'not on the PATH' : describe(program) };
  });
}

function describe({ name, path, version, registered, doors }: FoundProgram): string {
  const shut = doors.filter(({ open }) => !open).map(({ door, reason }) => `${door} (${reason})`);
  return oneLine(
    [
      `${version ?? 'version unknown (it did not answer --version)'} at ${path}`,
      registered ? 'registered' : `not registered: parley init ${initOf(name)}`,
      `doors ${doors.flatMap(({ door, open }) => (open ? [door] : [])).join(', ')}`,
      ...(shut.length === 0 ? [] : [`shut ${shut.join(', ')}`]),
    ].join('; '),
  );
}

function initOf(name: string): string {
  return PROGRAMS.find((program) => program.name === name)?.init ?? name;
}
