import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { type Client, createClient } from '@parley/client';
import {
  QUIET_CLAUDE,
  scriptedModelConfig,
  startAnthropicMessages,
  startOpenaiResponses,
} from '@parley/runtimes';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

import { openIsolatedHome } from '../agents/isolated-home.ts';
import { stepsOfClaude } from '../agents/run-claude.ts';
import { type CodexTool, stepsOfCodex } from '../agents/run-codex.ts';
import { describeWith } from '../tools/describe-with.ts';
import { requireTool } from '../tools/tools.ts';
import { freshPath, issueToken, parley, parleyJson, PARLEY, startHub, type TestHub } from './parley.ts';

const LONG = { timeout: 240_000 };
const CALLS = [{ tool: 'create_thread', arguments: { title: 'from the client', participants: ['ann'] } }];
const EXEC = ['exec', '--skip-git-repo-check', 'Make the call.'];

interface Told {
  registered: boolean;
  tools?: number;
  command: string[];
}

interface Doctor {
  programs: {
    name: string;
    version: string;
    registered: boolean;
    doors: { door: string; open: boolean }[];
  }[];
}

/** The hub that all connect to, each from a home of its own. */
let hub: TestHub;
let person: Client;
beforeAll(async () => {
  hub = await startHub();
  person = createClient({ url: hub.url, token: await issueToken(hub.data, 'kim', 'operator') });
});

/** A home with one client on its PATH. */
async function openHome(name: string, program: string, env: Record<string, string>) {
  const place = await openIsolatedHome();
  onTestFinished(() => place.remove());
  const bin = join(place.root, 'bin');
  await mkdir(bin);
  symlinkSync(program, join(bin, name));
  const all = { ...place.env, PATH: `${bin}:${process.env['PATH']}`, ...env };
  const at = { env: all, cwd: place.work };
  const threadsBefore = await threads();
  return {
    place,
    init: (...args: string[]) => parleyJson<Told>(['init', name, '--data', hub.data, ...args], at),
    said: () => parley(['init', name, '--data', hub.data], at),
    refused: (...args: string[]) => parley(['init', name, '--data', hub.data, ...args], at),
    doctor: async () => {
      // An agent that was killed before it took leave reads idle for a while, and the doctor says that nothing reaches it.
      const { stdout } = await parley(['doctor', '--data', hub.data, '--json'], at);
      const { programs } = JSON.parse(stdout) as Doctor;
      return programs.find((one) => one.name === name);
    },
    /** Runs the client, and tells under which names it has called the hub since it is here, and what it printed. */
    async run(args: string[], agent?: string) {
      const own = agent === undefined ? {} : { PARLEY_AGENT: agent };
      const child = spawn(program, args, {
        cwd: place.work,
        env: { ...all, ...own },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const said: Buffer[] = [];
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => said.push(chunk));
      await once(child, 'close');
      const known = new Set(threadsBefore.map(({ thread_id }) => thread_id));
      const made = (await threads()).filter(({ thread_id }) => !known.has(thread_id));
      const by = made.map(({ created_by }) => created_by).toSorted();
      return { by, said: Buffer.concat(said).toString() };
    },
  };
}

const threads = async () => (await person.list_threads({})).threads;

async function prepareCodex(tool: CodexTool) {
  const model = await startOpenaiResponses((request) => stepsOfCodex(request, CALLS, 'parley'));
  onTestFinished(() => model.close());
  const here = await openHome('codex', requireTool(tool), {});
  const home = join(here.place.home, '.codex');
  await mkdir(home);
  await writeFile(join(home, 'config.toml'), scriptedModelConfig(model.url));
  return { ...here, home };
}

async function prepareClaude() {
  const model = await startAnthropicMessages((request) => stepsOfClaude(request, CALLS, 'parley'));
  onTestFinished(() => model.close());
  return openHome('claude', requireTool('claude'), {
    ...QUIET_CLAUDE,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'sk-scripted',
  });
}

const server = (name: string, data: string): string[] => [
  process.execPath,
  PARLEY,
  'mcp',
  '--usual-agent',
  name,
  '--data',
  data,
];

describeWith(['codex', 'codex-0153', 'claude'], 'parley init', () => {
  test.each(['codex', 'codex-0153'] as const)(
    '%s: registered by its own command, works under both names however long our server takes to start, and is taken back',
    LONG,
    async (tool) => {
      const codex = await prepareCodex(tool);
      const before = await readFile(join(codex.home, 'config.toml'), 'utf8');
      // What the doctor says of a Codex without us is the same for every version.
      if (tool === 'codex') expect(await codex.doctor()).toMatchObject({ registered: false });
      expect((await codex.init('--print')).command.slice(0, 5)).toEqual([
        'codex',
        'mcp',
        'add',
        'parley',
        '--',
      ]);
      expect(await codex.init()).toMatchObject({
        registered: true,
        tools: 13,
        command: ['codex', 'mcp', 'add', 'parley', '--', ...server('codex', hub.data)],
      });
      expect(await codex.run(EXEC)).toMatchObject({ by: ['codex'] });
      const file = join(codex.home, 'config.toml');
      const config = await readFile(file, 'utf8');
      const slow = join(codex.place.root, 'slow');
      await writeFile(slow, `#!/bin/sh\nsleep 3\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
      await writeFile(file, config.replace(JSON.stringify(process.execPath), JSON.stringify(slow)));
      expect(await codex.run(EXEC, 'reviewer')).toMatchObject({ by: ['codex', 'reviewer'] });
      await writeFile(file, config);
      const found = await codex.doctor();
      expect(found?.registered).toBe(true);
      expect(found?.doors.find(({ door }) => door === 'codex_socket')?.open).toBe(tool === 'codex');
      expect(found?.doors.find(({ door }) => door === 'codex_resume')?.open).toBe(true);
      expect(await codex.init('--undo')).toMatchObject({ registered: false });
      expect(await readFile(join(codex.home, 'config.toml'), 'utf8')).toBe(before);
      expect(readdirSync(codex.home).filter((name) => name.includes('parley'))).toEqual([]);
      expect(await codex.refused('--undo')).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("'parley' is not registered in Codex"),
      });
    },
  );

  test(
    'Claude Code: registered by its own command, works under both names, and is taken back',
    LONG,
    async () => {
      const claude = await prepareClaude();
      expect(await claude.doctor()).toMatchObject({ registered: false });
      expect(await claude.init()).toMatchObject({ registered: true, tools: 13 });
      const config = (): { mcpServers: Record<string, { command: string; args: string[] }> } =>
        JSON.parse(readFileSync(join(claude.place.home, '.claude.json'), 'utf8')) as never;
      const { command, args } = config().mcpServers['parley'] ?? { command: '', args: [] };
      expect([command, ...args]).toEqual(server('claude', hub.data));
      const hooks = (): Record<string, { hooks: unknown[] }[]> =>
        (JSON.parse(readFileSync(join(claude.place.home, '.claude', 'settings.json'), 'utf8')) as never)[
          'hooks'
        ];
      const ours = { type: 'command', command: expect.stringContaining(' hook claude '), asyncRewake: true };
      for (const event of ['SessionStart', 'Stop'])
        expect(hooks()[event]).toEqual([{ hooks: [expect.objectContaining(ours)] }]);
      const print = ['-p', 'Make the call.', '--allowedTools', 'mcp__parley'];
      expect(await claude.run(print)).toMatchObject({ by: ['claude'] });
      expect(await claude.run(print, 'reviewer')).toMatchObject({ by: ['claude', 'reviewer'] });
      expect(await claude.doctor()).toMatchObject({
        registered: true,
        doors: expect.arrayContaining([
          { door: 'managed', open: true },
          { door: 'command', open: true },
          { door: 'claude_hook', open: true },
        ]),
      });
      // Twice is once.
      expect(await claude.init()).toMatchObject({ registered: true });
      expect(hooks()['Stop']).toHaveLength(1);
      expect(await claude.init('--undo')).toMatchObject({ registered: false });
      expect(config().mcpServers['parley']).toBeUndefined();
      expect(existsSync(join(claude.place.home, '.claude', 'settings.json'))).toBe(false);
    },
  );

  test(
    'Claude Code of an older version: init says, as verify-runtime does, that its hook is not used',
    LONG,
    async () => {
      const older = join(freshPath('older'), 'claude');
      await mkdir(dirname(older));
      // The real one, but for the number it gives itself.
      await writeFile(
        older,
        `#!/bin/sh\n[ "$1" = --version ] && echo '2.1.100 (Claude Code)' && exit\nexec ${requireTool('claude')} "$@"\n`,
        { mode: 0o755 },
      );
      const claude = await openHome('claude', older, QUIET_CLAUDE);
      expect(await claude.said()).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          /is registered .*\n.*does not wake this version by it \(version_untried: 2\.1\.100\).*verify-runtime claude/,
        ),
      });
    },
  );

  test(
    'Codex: comments and layout of the file stay, whatever becomes of it; a failure leaves nothing',
    LONG,
    async () => {
      const codex = await prepareCodex('codex');
      const file = join(codex.home, 'config.toml');
      const text = `# mine\n${readFileSync(file, 'utf8')}\n# servers\n[mcp_servers.files] # local\nargs = [ "-y",\n  "fs" ]\ncommand = "npx"\n`;
      const left = () => readdirSync(codex.home).filter((name) => name.includes('parley'));
      await writeFile(file, text);
      await codex.init();
      await codex.init();
      expect(readFileSync(file, 'utf8').startsWith(text)).toBe(true);
      expect(left()).toEqual(['config.toml.before-parley']);
      // Changed since: what is theirs stays.
      await writeFile(file, `${readFileSync(file, 'utf8')}# later\n`);
      await codex.init('--undo');
      expect(readFileSync(file, 'utf8')).toBe(`${text}# later\n`);
      expect(left()).toEqual([]);
      // Taken out by hand: nothing of ours is left to be found either.
      await codex.init();
      await writeFile(file, text);
      expect(await codex.refused('--undo')).toMatchObject({ code: 3 });
      expect(left()).toEqual([]);
      // What Codex itself finds wrong is told, and nothing is begun.
      await writeFile(file, 'model = \n');
      expect(await codex.refused()).toMatchObject({ stderr: expect.stringContaining('config.toml:1:9') });
      expect(readFileSync(file, 'utf8')).toBe('model = \n');
      expect(left()).toEqual([]);
    },
  );

  test(
    'Claude Code: the files of a project keep their layout, and are gone where they were not there',
    LONG,
    async () => {
      const claude = await prepareClaude();
      const { work } = claude.place;
      const files = () => readdirSync(work).filter((name) => /mcp|claude/.test(name));
      await claude.init('--scope', 'project');
      expect(files()).toEqual(['.claude', '.mcp.json']);
      await claude.init('--undo', '--scope', 'project');
      expect(files()).toEqual([]);
      await claude.init('--scope', 'local');
      expect(files()).toEqual(['.claude']);
      const file = join(work, '.mcp.json');
      const text = '{\n    "mcpServers": {\n        "a": { "command": "b" }\n    }\n}';
      await writeFile(file, text);
      await claude.init('--scope', 'project');
      const changed = readFileSync(file, 'utf8');
      expect(changed).toContain('\n        "a": { "command": "b" },\n');
      await writeFile(file, `${changed}\n`);
      expect((await claude.refused('--undo', '--scope', 'project')).code).toBe(0);
      expect(readFileSync(file, 'utf8')).toBe(`${text}\n`);
      // The one for this person stands.
      expect(files()).toEqual(['.claude', '.mcp.json']);
      expect(await claude.init('--undo', '--scope', 'local')).toMatchObject({ registered: false });
      expect(files()).toEqual(['.mcp.json']);
    },
  );

  test('Claude Code: an entry that was taken out by hand does not strand our hooks', LONG, async () => {
    const claude = await prepareClaude();
    const settings = join(claude.place.home, '.claude', 'settings.json');
    await mkdir(join(settings, '..'), { recursive: true });
    await writeFile(settings, '{\n  // mine\n  "model": "opus"\n}');
    await claude.init();
    expect(readFileSync(settings, 'utf8')).toContain('hook claude');
    const file = join(claude.place.home, '.claude.json');
    const config = JSON.parse(readFileSync(file, 'utf8')) as { mcpServers: Record<string, unknown> };
    delete config.mcpServers['parley'];
    await writeFile(file, JSON.stringify(config));
    expect(await claude.init('--undo')).toMatchObject({ registered: false });
    expect(readFileSync(settings, 'utf8')).toBe('{\n  // mine\n  "model": "opus"\n}');
    expect(await claude.refused('--undo')).toMatchObject({ code: 3 });
  });
});

test('a client that is not there, and a server that cannot start, leave nothing behind', LONG, async () => {
  const env = { HOME: freshPath('.'), PATH: '/usr/bin:/bin' };
  const data = freshPath();
  const none = await parley(['init', 'claude', '--bin', 'no-such-claude', '--data', data], { env });
  expect(none).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('there is no program no-such-claude'),
  });
  const wrong = await parley(['init', 'opencode', '--agent', 'not a name', '--data', data], { env });
  expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining('agent') });
  expect(existsSync(join(env.HOME, '.config'))).toBe(false);
  const named = await parley(['init', 'codex', '--name', 'a b', '--data', data], { env });
  expect(named).toMatchObject({ code: 2 });
});

test(
  'opencode and Gemini CLI: their files keep comments and layout, and are put back to the byte',
  LONG,
  async () => {
    const env = { HOME: freshPath('.') };
    const { data } = hub;
    const files = {
      opencode: [
        join(env.HOME, '.config', 'opencode', 'opencode.jsonc'),
        '{\n  // mine\n  "theme": "dark",\n  "mcp": { "other": { "type": "remote", "url": "http://127.0.0.1:1" } },\n}\n',
      ],
      gemini: [join(env.HOME, '.gemini', 'settings.json'), '{ "ui": { "theme": "GitHub" } } // bright'],
    } as const;
    for (const [client, [file, text]] of Object.entries(files)) {
      await mkdir(join(file, '..'), { recursive: true });
      await writeFile(file, text, { mode: 0o640 });
      const init = (...args: string[]) =>
        parleyJson<{ backup: string; file: string }>(['init', client, '--data', data, ...args], { env });
      const { backup } = await init();
      expect(await readFile(backup, 'utf8')).toBe(text);
      const changed = await readFile(file, 'utf8');
      for (const word of server(client, data)) expect(changed).toContain(JSON.stringify(word));
      expect(changed).toContain(client === 'opencode' ? '// mine' : '// bright');
      expect(statSync(file).mode & 0o777).toBe(0o640);
      await init('--undo');
      expect(await readFile(file, 'utf8')).toBe(text);
      expect(existsSync(backup)).toBe(false);
      await writeFile(file, '{ "half');
      expect(await parley(['init', client, '--data', data], { env })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('it was left as it is'),
      });
      expect(await readFile(file, 'utf8')).toBe('{ "half');
    }
  },
);

test('any other client gets the JSON it needs', async () => {
  const data = freshPath();
  const { stdout } = await parley(['init', 'mcp', '--agent', 'cursor', '--data', data]);
  const args = [PARLEY, 'mcp', '--agent', 'cursor', '--data', data];
  expect(JSON.parse(stdout)).toEqual({ mcpServers: { parley: { command: process.execPath, args } } });
});
