import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  CLAUDE_KEY,
  QUIET_CLAUDE,
  scriptedModelConfig,
  startAnthropicMessages,
  startOpenaiResponses,
} from '@parley/runtimes';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { stepsOfCodex } from '../agents/run-codex.ts';
import { freshPath } from '../cli/parley.ts';
import { describeWith } from '../tools/describe-with.ts';
import { blocksOf, ROOT, scriptOf } from './page.ts';
import { type Newcomer, openNewcomer } from './paste.ts';

let newcomer: Newcomer;
beforeAll(async () => {
  newcomer = await openNewcomer();
});
afterAll(() => newcomer.hub.stop());

const PAGES = [
  'connect-claude-code-or-codex',
  'write-an-agent',
  'build-a-dashboard-or-a-service',
  'run-it-for-a-team',
].map((name) => `docs/start/${name}.md`);

test.each(PAGES)('%s has at most 400 words, and each of its commands ends in something to see', (path) => {
  const blocks = blocksOf(path);
  const words = execFileSync('wc', ['-w', join(ROOT, path)]).toString();
  expect(Number.parseInt(words, 10)).toBeLessThanOrEqual(400);
  expect(blocks.some(({ language }) => language === 'sh')).toBe(true);
});

describeWith(['claude'], 'connect Claude Code', ({ claude }) => {
  test('as it is pasted, with the real program', { timeout: 240_000 }, async () => {
    const model = await startAnthropicMessages(({ body }) => {
      const last = JSON.stringify(body.messages.at(-1));
      if ((body.tools ?? []).length === 0) return [{ text: 'Hello' }];
      const thread = /th_\w+/.exec(last)?.[0];
      if (!last.includes('tool_result'))
        return [{ use: 'mcp__parley__list_threads', input: {}, id: 'toolu_1' }];
      if (thread === undefined || !last.includes('participants')) return [{ text: 'I have said hello.' }];
      const input = { thread_id: thread, schema_version: 1, body: 'Hello from Claude Code!' };
      return [{ use: 'mcp__parley__post_message', input, id: 'toolu_2' }];
    });
    const env = { ...QUIET_CLAUDE, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: CLAUDE_KEY };
    const bin = freshPath('bin');
    mkdirSync(bin);
    symlinkSync(claude, join(bin, 'claude'));
    const output = await newcomer.follow('docs/start/connect-claude-code-or-codex.md', {
      env,
      programs: [bin],
    });
    await model.close();
    expect(output).toMatch(/^parley: .*Connected$/m);
    expect(output).toMatch(/^ +#2 .* claude +Hello from Claude Code!$/m);
  });
});

describeWith(['codex'], 'connect Codex', ({ codex }) => {
  test('as the same page says it, with the real program', { timeout: 240_000 }, async () => {
    const path = 'docs/start/connect-claude-code-or-codex.md';
    const model = await startOpenaiResponses((request) => {
      const thread_id = /th_\w+/.exec(JSON.stringify(request.body.input))?.[0] ?? '';
      const post = { thread_id, schema_version: 1, body: 'Hello from Codex!' };
      const calls = [
        { tool: 'list_threads', arguments: {} },
        { tool: 'post_message', arguments: post },
      ];
      return stepsOfCodex(request, calls, 'parley');
    });
    const settings = join(newcomer.home, '.codex');
    mkdirSync(settings);
    writeFileSync(join(settings, 'config.toml'), scriptedModelConfig(model.url));
    const bin = freshPath('bin');
    mkdirSync(bin);
    symlinkSync(codex, join(bin, 'codex'));
    const own = blocksOf(path).find(({ text }) => text.startsWith('codex '))?.text ?? '';
    // Every word as for Claude Code, but for the one line that the page gives for Codex.
    const script = scriptOf(path)
      .replaceAll('claude', 'codex')
      .replace(/^codex -p .*$/m, own);
    const { code, output } = await newcomer.paste(script, { programs: [bin] });
    await model.close();
    expect(code, output).toBe(0);
    expect(output).toContain("'parley' is registered in Codex and answers with 13 tools");
    expect(output).toMatch(/^ +#2 .* codex +Hello from Codex!$/m);
    expect(output).toMatch(/^ +calls +upon codex$/m);
  });
});

test('write an agent, as it is pasted', { timeout: 240_000 }, async () => {
  const packs = freshPath('packs');
  mkdirSync(packs);
  execFileSync(process.execPath, ['--import', 'tsx', 'scripts/build-client.ts'], { cwd: ROOT });
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', packs], {
    cwd: join(ROOT, 'clients/typescript'),
  });
  const output = await newcomer.follow('docs/start/write-an-agent.md', {
    replaced: { '~/parley/packs': packs },
  });
  expect(output).toContain('"body":"Are you there?"');
  // It stands where people look for it.
  expect(output).toMatch(/^idle +helper /m);
});

test('build a dashboard or a service, as it is pasted', { timeout: 240_000 }, async () => {
  const output = await newcomer.follow('docs/start/build-a-dashboard-or-a-service.md');
  expect(output).toContain('"title":"Deploy"');
  expect(output).toContain('True');
  expect(output).toContain('Build 17 is out.');
});

test('run it for a team, as it is pasted', { timeout: 240_000 }, async () => {
  const output = await newcomer.follow('docs/start/run-it-for-a-team.md', {
    replaced: { '--port 8699': '--port 0' },
  });
  expect(output).toContain('[Service]');
  expect(output).toMatch(/^ +Code +[0-9A-Z]{4}-[0-9A-Z]{4}$/m);
  expect(output).toContain('Before the backup');
});
