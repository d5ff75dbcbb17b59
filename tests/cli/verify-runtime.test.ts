import { readdirSync, readFileSync } from 'node:fs';

import { test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { freshPath, parley } from './parley.ts';

interface Report {
  version: string;
  doors: { door: string; works: boolean; gate: string; reason?: string }[];
  rows: { row: string; works: boolean; reason?: string }[];
}

const LONG = { timeout: 240_000 };

/** By an agent and by a person: before it is opened, at rest, and after the hub was killed. */
const ROWS = 6;

const TOOLS = ['codex', 'codex-0153', 'claude', 'opencode'] as const;

describeWith(TOOLS, 'parley verify-runtime', ({ codex, claude, opencode, ...tools }) => {
  const CASES: [name: string, runtime: string, bin: string, doors: string[], shut: string[]][] = [
    ['Codex', 'codex', codex, ['managed', 'supervisor', 'codex_socket', 'codex_resume', 'codex_new'], []],
    [
      'Codex 0.153.4',
      'codex',
      tools['codex-0153'],
      ['managed', 'supervisor', 'codex_resume', 'codex_new'],
      ['codex_socket'],
    ],
    [
      'Claude Code',
      'claude',
      claude,
      ['managed', 'supervisor', 'command', 'claude_hook', 'claude_resume', 'claude_new'],
      [],
    ],
    ['opencode', 'opencode', opencode, ['managed'], ['supervisor']],
  ];
  // Each in a home of its own and mostly waiting for its program: all of them at once.
  for (const [name, runtime, bin, open, shut] of CASES) {
    test.concurrent(
      `[HUB-M9] ${name}: every door that the hub opens for it works, calls reach it after parley init alone, and nothing is left running`,
      LONG,
      async ({ expect }) => {
        const folder = freshPath('.');
        const { code, stdout, stderr } = await parley(['verify-runtime', runtime, '--bin', bin, '--json'], {
          env: { TMPDIR: folder },
        });
        const { doors, rows } = JSON.parse(stdout) as Report;
        const opened = doors.filter(({ gate }) => gate === 'open');
        expect(opened.map(({ door, works, reason }) => [door, works, reason])).toEqual(
          open.map((door) => [door, true, undefined]),
        );
        expect(doors.filter(({ gate }) => gate === 'shut').map(({ door }) => door)).toEqual(shut);
        // Calls reach it after parley init alone, where somebody can have it open.
        expect(rows.filter(({ works }) => !works)).toEqual([]);
        expect(rows).toHaveLength(shut.includes('codex_socket') ? 0 : ROWS);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        await expect.poll(() => leftIn(folder), { timeout: 30_000 }).toEqual([]);
      },
    );
  }
});

test('a program that is not there is named', async ({ expect }) => {
  const { code, stderr } = await parley(['verify-runtime', 'codex', '--bin', 'no-such-codex']);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('no-such-codex') });
});

/** The processes of this machine that live in a folder of a trial. */
function leftIn(folder: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      const env = readFileSync(`/proc/${pid}/environ`, 'utf8');
      return env.includes(folder) ? [line.replaceAll('\0', ' ')] : [];
    } catch {
      return [];
    }
  });
}
