import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import type { ToolResult } from '../agents/agent-run.ts';
import { runClaude } from '../agents/run-claude.ts';
import type { CodexTool } from '../agents/run-codex.ts';
import { describeWith } from '../tools/describe-with.ts';
import { requireTool } from '../tools/tools.ts';
import { PROGRAM } from './proxy-client.ts';
import { openRealScene, type RealScene } from './real-scene.ts';

const kinds = [
  ['codex', 'app-server'],
  ['codex-0153', 'mcp-server'],
] as const satisfies readonly (readonly [CodexTool, string])[];

for (const [tool, transport] of kinds)
  describeWith(['claude', tool], `the real Claude Code before the real Codex: ${tool}, ${transport}`, () => {
    let scene: RealScene;
    beforeEach(async () => {
      scene = await openRealScene(tool, transport);
    });
    afterEach(() => scene.close());

    const agentOf = (results: ToolResult[]): string =>
      /codex:[0-9a-f-]{36}/.exec(results[0]?.text ?? '')?.[0] ?? 'none';

    /** Claude Code starts a session, has it run a command that needs leave, and closes it. */
    const drive = (settings?: Record<string, unknown>) =>
      runClaude({
        server: {
          kind: 'stdio',
          command: process.execPath,
          args: `serve --transport ${transport} --sandbox read-only --approval-policy on-request`
            .split(' ')
            .toSpliced(0, 0, PROGRAM),
          env: {
            HOME: scene.place.home,
            ATM_HOME: scene.place.home,
            CODEX_BIN: requireTool(tool),
            CODEX_HOME: join(scene.place.home, '.codex'),
          },
        },
        calls: [
          { tool: 'codex', arguments: { prompt: 'hello', identity: 'arch', cwd: scene.place.work } },
          {
            tool: 'codex-reply',
            arguments: (results) => ({ agent_id: agentOf(results), prompt: 'run made' }),
          },
          { tool: 'agent_close', arguments: (results) => ({ agent_id: agentOf(results) }) },
        ],
        ...(settings === undefined ? {} : { settings }),
      });

    /** A hook answers for the person, as Claude Code lets it when nobody is there. */
    const hook = (): { settings: Record<string, unknown>; asked: string } => {
      const asked = join(scene.place.root, 'asked.json');
      const script = join(scene.place.root, 'approve.mjs');
      const answer = { hookEventName: 'Elicitation', action: 'accept', content: {} };
      writeFileSync(
        script,
        `import { readFileSync, writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(asked)}, readFileSync(0));
console.log(${JSON.stringify(JSON.stringify({ hookSpecificOutput: answer }))});
`,
      );
      const command = `'${process.execPath}' '${script}'`;
      return { asked, settings: { hooks: { Elicitation: [{ hooks: [{ type: 'command', command }] }] } } };
    };

    test('[AT core/2] [AT core/3] [AT approval/1] [AT approval/2] [AT lifecycle/3] [PROXY-X4] [PROXY-X9] it starts a session, replies, approves a command by its hook, and closes', async () => {
      const { settings, asked } = hook();
      const { results, leftBehind, exitCode } = await drive(settings);
      expect(results.map(({ isError }) => isError)).toEqual([false, false, false]);
      expect(results[0]?.text).toContain('echo hello');
      expect(existsSync(join(scene.place.work, 'made'))).toBe(true);
      expect(readFileSync(asked, 'utf8')).toContain('identity: arch');
      expect(results[2]?.text).toMatch(/closed/);
      expect(leftBehind).toEqual([]);
      expect(exitCode).toBe(0);
    });

    test('[PROXY-X4] without a hook it says no for want of a person, and the turn goes on', async () => {
      const { results, leftBehind } = await drive();
      expect(results.map(({ isError }) => isError)).toEqual([false, false, false]);
      expect(existsSync(join(scene.place.work, 'made'))).toBe(false);
      expect(leftBehind).toEqual([]);
    });
  });
