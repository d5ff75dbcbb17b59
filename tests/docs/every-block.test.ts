import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { parse } from 'smol-toml';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { loadConfig } from '../../packages/hub/src/config/load.ts';
import { freshPath } from '../cli/parley.ts';
import { type Block, blocksOf, ROOT } from './page.ts';
import { holdsShown, type Newcomer, openNewcomer } from './paste.ts';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'clients/typescript/README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('decisions'))
    .map((name) => `docs/${name}`)
    .toSorted(),
];

/** Pages whose blocks other tests paste, one by one and with what comes out. */
const PASTED = /^docs\/(?:start|how-to)\/|^docs\/(?:artifacts|queue)\.md$|^docs\/faces\/(?:http|events)\.md$/;

/** Blocks that no test pastes, or that another does, by the page and their first line. */
const NOT_HERE: Record<string, Record<string, string>> = {
  'README.md': {
    'npm ci': 'installs the clone in which the tests run; tests/cli/package.test.ts does it in a copy',
    'npm install -g --ignore-scripts $(npm run -s pack)':
      'tests/cli/package.test.ts, with a prefix of its own',
    './parley demo    # two scripted agents and a coordinator play a code review, live on your dashboard':
      'tests/docs/pasted.test.ts',
    'TOKEN=$(./parley token issue --agent alice)': 'tests/docs/pasted.test.ts',
  },
  'CONTRIBUTING.md': {
    'npm ci             # install; also builds the binaries': 'the commands of this run itself',
  },
  'docs/remote.md': {
    'parley serve --lan':
      'tests/hub/lan.test.ts and tests/dashboard/passkeys.test.ts, at an address of loopback',
    'tailscale serve --bg 8620': 'needs an account of Tailscale',
    'ssh -N -L 8620:127.0.0.1:8620 you@the-machine': 'needs a second machine',
  },
  'docs/acp.md': {
    'parley run --managed -- opencode': 'stays until it is stopped; tests/supervisor runs each',
  },
  'docs/agents.md': { 'parley agent ls --state stuck': 'names agents of yours; tests/cli/steer.test.ts' },
  'docs/asks.md': {
    'parley ask ls                                  # who waits for you':
      'names an ask of yours; tests/cli/asks.test.ts',
    "parley ask always executioner 'git push origin feature/*' --cwd '~/src/app'":
      'names a rule of yours; docs/how-to/approve-a-command-for-good.md is pasted',
  },
  'docs/atm-agent-mcp.md': {
    'atm-agent-mcp init claude                          # registers it in Claude Code; --print shows how, --undo takes it back':
      'needs a team of Claude Code; tests/proxy',
    'atm-agent-mcp sessions --repo parley               # every session of the team; --prune forgets those that ended':
      'names a session of yours; tests/proxy',
    'parley agent ls                       # arch  working  "fix the failing test"':
      'names a session of yours; tests/proxy',
  },
  'docs/dashboard.md': {
    'parley serve            # prints a link: follow it': 'stays until it is stopped; tests/dashboard',
  },
  'docs/faces/envelope.md': {
    'PARLEY_URL=http://127.0.0.1:8620': 'tests/docs/pasted.test.ts',
    'parley key add --public partner.pem --kid partner-1 --workspace acme --external --role editor --subject svc:partner':
      'needs the key of a partner; tests/api',
  },
  'docs/faces/mcp.md': {
    'claude mcp add parley -- parley mcp --agent claude':
      'needs Claude Code; docs/start pastes `parley init claude`',
    'TOKEN=$(parley token issue --agent claude)': 'needs Claude Code; tests/agents connects it over HTTP',
  },
  'docs/guide.md': {
    'parley init claude    # or codex, gemini, opencode; --print shows what it would do, --undo takes it back':
      'needs Claude Code; docs/start pastes it',
  },
  'docs/knowledge.md': { 'echo "# Setup" | parley know put Guide': 'tests/docs/pasted.test.ts' },
  'docs/metrics.md': {
    'openssl rand -hex 32 > parley-metrics.key && chmod 600 parley-metrics.key':
      'stays until it is stopped; tests/metrics starts such a hub',
  },
  'docs/notifications.md': {
    'echo https://ntfy.sh/a-topic-nobody-guesses | parley notify add ntfy --name "my phone" --quiet-hours 22:00-07:00':
      'names a channel of yours; docs/how-to/be-told-on-your-phone.md is pasted',
  },
  'docs/operations.md': {
    'parley backup /backups/parley-2026-11-15':
      'a folder at the root; docs/how-to/back-up-and-restore.md is pasted',
    'parley token issue --agent alice --role worker --session alice-1 --ttl 7d --json':
      'names a token of yours; docs/how-to/revoke-access.md is pasted',
    'parley key list': 'names a key of yours; docs/how-to/accept-my-platforms-tokens.md is pasted',
    'createdb parley': 'tests/docs/two-nodes.test.ts',
    'npm run pack': 'needs Docker',
    'parley init claude --undo     # and whatever else you connected':
      'uninstalls; tests/cli/package.test.ts',
  },
  'docs/people.md': {
    'claude mcp add --transport http parley https://desk.example.com/mcp': 'needs an issuer and a browser',
  },
  'docs/supervisor.md': {
    'parley run --agent reviewer -- codex': 'stays at a terminal; tests/supervisor',
    'parley agent type reviewer "go on" --enter': 'needs a program at a terminal; tests/supervisor',
    'parley agent command reviewer terminal_deliver --param delivery_id=d1 --param text="You have mail in the review."':
      'needs a program at a terminal; tests/supervisor',
    'parley run --agent reviewer --managed -- codex --sandbox workspace-write':
      'stays until it is stopped; tests/supervisor',
  },
  'docs/team-mail.md': {
    'atm-agent-mcp mail ls --team session-1a2b3c4d          # the members and their unread mail':
      'needs a team of Claude Code; tests/mail',
    'atm-agent-mcp bridge --team session-1a2b3c4d            # until Ctrl-C or SIGTERM':
      'needs a team of Claude Code; tests/mail',
  },
  'docs/waking.md': {
    'parley wake reviewer': 'names a thread of yours; docs/how-to/why-was-my-agent-not-woken.md is pasted',
    'parley verify-runtime codex': 'takes minutes with real programs; tests/cli/verify-runtime.test.ts',
  },
};

const firstLine = ({ text }: Block): string => text.split('\n')[0] ?? '';
const blocks = (language: string) =>
  pages.flatMap((path) =>
    blocksOf(path).flatMap((block, i, all) =>
      block.language === language ? [{ path, block, next: all[i + 1] }] : [],
    ),
  );
const isHere = ({ path, block }: { path: string; block: Block }): boolean =>
  !PASTED.test(path) && NOT_HERE[path]?.[firstLine(block)] === undefined;

describe('shell blocks', () => {
  let newcomer: Newcomer;
  beforeAll(async () => {
    newcomer = await openNewcomer();
  });
  afterAll(() => newcomer.hub.stop());

  test('every exception names a block that is there', () => {
    const there = new Set(blocks('sh').map(({ path, block }) => `${path}: ${firstLine(block)}`));
    const named = Object.entries(NOT_HERE).flatMap(([path, lines]) =>
      Object.keys(lines).map((line) => `${path}: ${line}`),
    );
    expect(named.filter((name) => !there.has(name))).toEqual([]);
  });

  const rest = blocks('sh').filter(isHere);
  test.each(rest.map(({ path, block, next }) => [path, firstLine(block), block, next] as const))(
    '%s: %s',
    { timeout: 120_000 },
    async (_path, _line, block, next) => {
      const { code, output } = await newcomer.paste(block.text, { cwd: join(newcomer.home, 'work') });
      expect(code, output).toBe(0);
      holdsShown(output, next === undefined ? [block] : [block, next]);
    },
  );
});

/** Written for other programs than the hub, or only to be read. */
const OTHER_TOML = ['docs/faces/mcp.md', 'docs/atm-agent-mcp.md'];

test.each(blocks('toml').map(({ path, block }, i) => [path, i, block.text] as const))(
  'the settings on %s (%i) are taken by the hub, or well formed where they are for another program',
  (path, _i, text) => {
    expect(Object.keys(parse(text)).length).toBeGreaterThan(0);
    if (OTHER_TOML.includes(path)) return;
    const file = freshPath('config.toml');
    writeFileSync(file, text);
    expect(loadConfig({}, { PARLEY_CONFIG: file, HOME: join(file, '..') }).file).toBe(file);
  },
);

/** Only an outline: what stands there is left out. */
const OUTLINES = ["test('[HUB-R5] [C-HUB-05] a retry returns the first result', async () => { … });"];

test('every TypeScript block compiles as it stands', { timeout: 120_000 }, () => {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.cache/docs-ts-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const found = blocks('ts').filter(({ block }) => !OUTLINES.includes(firstLine(block).trim()));
  expect(found.length).toBeGreaterThanOrEqual(3);
  for (const [i, { path, block }] of found.entries())
    writeFileSync(join(folder, `${path.replaceAll(/\W/g, '-')}-${i}.ts`), block.text);
  const settings = {
    extends: '../../tsconfig.json',
    compilerOptions: {
      noEmit: true,
      types: ['node'],
      noPropertyAccessFromIndexSignature: false,
      exactOptionalPropertyTypes: false,
      paths: { 'parley-client': ['../../packages/client/src/index.ts'] },
    },
    include: ['*.ts'],
    exclude: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
});

test('Python stands inside shell blocks, where it is run', () => {
  expect([...blocks('python'), ...blocks('py')]).toEqual([]);
  expect(readFileSync(join(ROOT, 'docs/start/write-an-agent.md'), 'utf8')).toContain('python3 agent.py');
});
