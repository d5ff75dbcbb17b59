import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { loadConfig } from './load.ts';

let home: string;
let repo: string;
beforeEach(() => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'atm-config-')));
  home = join(root, 'home');
  repo = join(root, 'repo');
  mkdirSync(join(repo, 'deep', 'er'), { recursive: true });
  execFileSync('git', ['init', '-q', repo]);
});
afterEach(() => rmSync(dirname(home), { recursive: true, force: true }));

const load = (
  flags: Parameters<typeof loadConfig>[0]['settings'] = {},
  env: NodeJS.ProcessEnv = {},
  cwd = repo,
) => loadConfig({ settings: flags }, { ATM_HOME: home, ...env }, cwd);

function write(path: string, lines: string[]): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.join('\n'));
}
const writeUser = (...lines: string[]) =>
  write(join(home, '.config/atm/config.toml'), ['[plugins.atm-agent-mcp]', ...lines]);
const writeRepo = (...lines: string[]) =>
  write(join(repo, '.atm.toml'), ['[plugins.atm-agent-mcp]', ...lines]);

describe('[FR-12.3] [C-PROXY-40] flags > environment > repository > user > default', () => {
  const layers = ['default', 'user', 'repo', 'env', 'flag'] as const;
  for (const [strength, strong] of layers.entries()) {
    for (const weak of layers.slice(0, strength)) {
      test(`${strong} over ${weak}`, () => {
        const has = (layer: string) => layer === strong || layer === weak;
        if (has('user')) writeUser('model = "user-model"');
        if (has('repo')) writeRepo('model = "repo-model"');
        const env = has('env') ? { ATM_AGENT_MCP_MODEL: 'env-model' } : {};
        const { settings, origins } = load(has('flag') ? { model: 'flag-model' } : {}, env);
        expect(settings.model).toBe(`${strong}-model`);
        expect(origins.get('model')).toBe(strong);
      });
    }
  }

  test('[FR-14.3] values merge one by one, not section by section', () => {
    writeUser('model = "m"', 'request_timeout_secs = 7');
    writeRepo('model = "n"');
    expect(load().settings).toMatchObject({ model: 'n', request_timeout_secs: 7 });
  });
});

test('[FR-8.5] max_messages and max_message_length, under these names too, in a file, a variable and a flag', () => {
  expect(load().settings).toMatchObject({ max_mail_messages: 10, max_mail_message_length: 4_096 });
  writeUser(
    'max_messages = 3',
    'max_message_length = 99',
    '[plugins.atm-agent-mcp.per_thread_auto_mail]',
    '"dev.1" = false',
  );
  const { settings, unknown } = load({}, { ATM_AGENT_MCP_MAX_MESSAGES: '4' });
  expect(settings).toMatchObject({
    max_mail_messages: 4,
    max_mail_message_length: 99,
    per_thread_auto_mail: { 'dev.1': false },
  });
  expect(unknown).toEqual([]);
  const flags = { max_messages: '5' } as Parameters<typeof load>[0];
  expect(load(flags).settings.max_mail_messages).toBe(5);
});

test('[FR-12.4] without any word on the model none is passed on', () => {
  expect(load().settings.model).toBeNull();
});

test('[FR-12.5] [FR-13.7] --fast takes fast_model, and leaves a model that is pinned, wherever', () => {
  const fast = (model?: string, env = {}) =>
    loadConfig({ settings: { model }, fast: true }, { ATM_HOME: home, ...env }, repo).settings.model;
  writeUser('fast_model = "quick"');
  expect(fast()).toBe('quick');
  expect(fast('pinned')).toBe('pinned');
  expect(fast(undefined, { ATM_AGENT_MCP_MODEL: 'of the environment' })).toBe('of the environment');
  writeUser('model = "slow"', 'fast_model = "quick"');
  expect(fast()).toBe('slow');
});

test('[FR-13.7] --readonly sets the sandbox, and --fast without fast_model is an error', () => {
  const read = loadConfig({ settings: {}, readonly: true }, { ATM_HOME: home }, repo);
  expect(read.settings.sandbox).toBe('read-only');
  expect(() => loadConfig({ settings: {}, fast: true }, { ATM_HOME: home }, repo)).toThrow(/fast_model/);
});

test("[FR-12.1] the section sets every key that users know, in .atm.toml and in the user's own file; [core] names the team and the client", () => {
  const keys = {
    codex_bin: '/opt/codex',
    model: 'm',
    reasoning_effort: 'high',
    sandbox: 'read-only',
    approval_policy: 'never',
    base_prompt_file: 'base.md',
    extra_instructions_file: 'extra.md',
  };
  const lines = Object.entries(keys).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  const core = ['[core]', 'default_team = "blue"', 'identity = "arch"'];
  writeUser(...lines, ...core);
  const all = { ...keys, team: 'blue', client_identity: 'arch', identity: 'codex' };
  expect(load().settings).toMatchObject(all);
  // The same in the file of a repository that its user trusts.
  writeUser(`trusted_repos = [${JSON.stringify(repo)}]`);
  writeRepo(...lines, ...core);
  expect(load().settings).toMatchObject(all);
  writeRepo('identity = "ours"', ...core);
  expect(load().settings).toMatchObject({ client_identity: 'arch', identity: 'ours' });
  rmSync(join(repo, '.atm.toml'));
  writeUser('identity = "mine"', ...core);
  expect(load().settings).toMatchObject({ client_identity: 'arch', identity: 'mine' });
});

test('[FR-2.5] [C-PROXY-08] the identity is the configured one, else codex', () => {
  expect(load().settings.identity).toBe('codex');
  writeUser('default_identity = "arch"');
  expect(load().settings.identity).toBe('arch');
  writeUser('default_identity = "arch"', 'identity = "own-name"');
  expect(load().settings.identity).toBe('own-name');
});

test('[core] gives the team and the name of the client; aliases of a repository count where it is trusted', () => {
  const core = ['[core]', 'default_team = "blue"', 'identity = "arch"', '[aliases]', 'chief = "boss@blue"'];
  write(join(home, '.config/atm/config.toml'), core);
  expect(load().settings).toMatchObject({ team: 'blue', client_identity: 'arch' });
  write(join(repo, '.atm.toml'), ['[aliases]', 'chief = "lead"', 'qa = "tester"']);
  expect(Object.fromEntries(load().aliases)).toEqual({ chief: 'boss@blue' });
  const trusting = ['[plugins.atm-agent-mcp]', `trusted_repos = [${JSON.stringify(repo)}]`];
  write(join(home, '.config/atm/config.toml'), [...core, ...trusting]);
  expect(Object.fromEntries(load().aliases)).toEqual({ chief: 'lead', qa: 'tester' });
  expect(load({}, { ATM_IDENTITY: 'boss' }).settings).toMatchObject({
    client_identity: 'boss',
    identity: 'codex',
  });
  write(join(repo, '.atm.toml'), ['[aliases]', 'chief = 5']);
  expect(() => load()).toThrow(/aliases\.chief/);
});

test('who the client is, is not for an untrusted repository to say', () => {
  write(join(repo, '.atm.toml'), ['[core]', 'identity = "alice"']);
  expect(load()).toMatchObject({
    settings: { client_identity: null },
    ignored: [{ key: 'client_identity' }],
  });
  writeUser(`trusted_repos = [${JSON.stringify(repo)}]`);
  expect(load().settings.client_identity).toBe('alice');
});

test("teams are Claude Code's, wherever it keeps them, but never outside of ATM_HOME", () => {
  const elsewhere = { CLAUDE_CONFIG_DIR: '/somewhere/claude' };
  expect(load({}, elsewhere).places.teams).toBe(join(home, '.claude/teams'));
  expect(load({}, { ...elsewhere, ATM_HOME: ' ' }).places.teams).toBe('/somewhere/claude/teams');
});

test('[FR-12.2] roles come from both files, each under its name', () => {
  writeUser('[plugins.atm-agent-mcp.roles.review]', 'sandbox = "read-only"');
  writeRepo('[plugins.atm-agent-mcp.roles.build]', 'model = "big"');
  const { roles, roleOrigins } = load();
  expect(Object.fromEntries(roles)).toEqual({ review: { sandbox: 'read-only' }, build: { model: 'big' } });
  expect(roleOrigins.get('build')).toBe('repo');
});

describe('[C-PROXY-17] a repository names programs and files only once its user trusts it', () => {
  const evil = ['codex_bin = "./evil"', 'base_prompt_file = "/etc/passwd"', 'sandbox = "danger-full-access"'];

  test('not without trust, and it is told', () => {
    writeRepo(...evil, 'model = "fine"', '[plugins.atm-agent-mcp.roles.x]', 'sandbox = "danger-full-access"');
    const { settings, ignored, roles } = load();
    expect(settings).toMatchObject({
      codex_bin: 'codex',
      base_prompt_file: null,
      sandbox: 'workspace-write',
      model: 'fine',
    });
    expect(roles.size).toBe(0);
    expect(ignored.map(({ key }) => key)).toEqual(['codex_bin', 'base_prompt_file', 'sandbox', 'roles.x']);
  });

  test("with the user's trust in that very folder", () => {
    writeRepo(...evil);
    writeUser(`trusted_repos = [${JSON.stringify(repo)}]`);
    expect(load().settings.codex_bin).toBe('./evil');
    writeUser(`trusted_repos = [${JSON.stringify(dirname(repo))}]`);
    expect(load().settings.codex_bin).toBe('codex');
  });

  test('a repository cannot trust itself, nor slip in its file by a link', () => {
    writeRepo(`trusted_repos = [${JSON.stringify(repo)}]`, 'codex_bin = "./evil"');
    expect(load().settings.codex_bin).toBe('codex');
    const linked = join(repo, 'deep');
    symlinkSync(join(repo, '.atm.toml'), join(linked, '.atm.toml'));
    expect(load({}, {}, linked).files.repo).toBe(join(repo, '.atm.toml'));
  });
});

test('the nearest .atm.toml up to the top of the repository counts, and none above it', () => {
  write(join(dirname(repo), '.atm.toml'), ['[plugins.atm-agent-mcp]', 'model = "outside"']);
  const deep = join(repo, 'deep', 'er');
  expect(load({}, {}, deep).settings.model).toBeNull();
  writeRepo('model = "top"');
  expect(load({}, {}, deep).settings.model).toBe('top');
  write(join(repo, 'deep', '.atm.toml'), ['[plugins.atm-agent-mcp]', 'model = "near"']);
  expect(load({}, {}, deep).settings.model).toBe('near');
});

test("blank variables count as none; the older ones hold beside the proxy's own", () => {
  expect(load({}, { ATM_TEAM: ' ', CODEX_BIN: '/opt/codex' }).settings).toMatchObject({
    team: 'default',
    codex_bin: '/opt/codex',
  });
  const both = { CODEX_BIN: '/opt/codex', ATM_AGENT_MCP_CODEX_BIN: '/usr/bin/codex', ATM_TEAM: 'blue' };
  expect(load({}, both).settings).toMatchObject({ codex_bin: '/usr/bin/codex', team: 'blue' });
});

test('what concerns the hub has a table of its own, and is not for an untrusted repository to say', () => {
  writeUser('[plugins.atm-agent-mcp.hub]', 'url = "https://hub.example"', 'token_file = "/t/{identity}"');
  writeRepo('[plugins.atm-agent-mcp.hub]', 'url = "https://evil.example"', 'enabled = false');
  const { settings, ignored } = load();
  expect(settings).toMatchObject({
    hub_url: 'https://hub.example',
    hub_token_file: '/t/{identity}',
    hub_enabled: true,
  });
  expect(ignored.map(({ key }) => key)).toEqual(['hub_url', 'hub_enabled']);
  expect(load({}, { PARLEY_URL: 'https://other.example' }).settings.hub_url).toBe('https://other.example');
  writeUser('[plugins.atm-agent-mcp.hub]', 'ulr = "x"');
  expect(load().unknown).toContain('hub_ulr');
});

test('a path is meant from where it was written, and never from a repository that did not write it', () => {
  const names = ['codex_bin', 'base_prompt_file', 'extra_instructions_file'] as const;
  const lines = names.map((key) => `${key} = "./x"`);
  const all = (folder: string) => Object.fromEntries(names.map((key) => [key, join(folder, 'x')]));
  const deep = join(repo, 'deep');
  writeUser(...lines);
  expect(load({}, {}, deep).paths).toMatchObject(all(join(home, '.config/atm')));
  writeRepo(...lines);
  expect(load({}, {}, deep).paths).toMatchObject(all(join(home, '.config/atm')));
  writeUser(`trusted_repos = [${JSON.stringify(repo)}]`);
  expect(load({}, {}, deep).paths).toMatchObject(all(repo));
  expect(load({ codex_bin: './x' }, { ATM_AGENT_MCP_BASE_PROMPT_FILE: './x' }, deep).paths).toMatchObject({
    codex_bin: join(deep, 'x'),
    base_prompt_file: join(deep, 'x'),
    hub_data: null,
  });
  expect(load({ codex_bin: 'codex' }).paths.codex_bin).toBe('codex');
});

test('what is wrong is named with its place; what is unknown is told', () => {
  writeUser('sandbox = "none"');
  expect(() => load()).toThrow(/config\.toml: sandbox/);
  writeUser('model = ');
  expect(() => load()).toThrow(/config\.toml/);
  writeUser('modle = "x"');
  expect(load({}, { ATM_AGENT_MCP_MODLE: 'x' }).unknown).toEqual(['modle', 'ATM_AGENT_MCP_MODLE']);
  expect(() => load({ request_timeout_secs: 'soon' })).toThrow(/request_timeout_secs/);
  expect(() => load({ modle: 'x' } as never)).toThrow(/no setting modle/);
});

test('[FR-14.1] [FR-18.4] [FR-7.2] [FR-3.3] [FR-8.2] [FR-8.5] what nobody has set is as it was promised', () => {
  expect(load().settings).toMatchObject({
    request_timeout_secs: 300,
    approval_timeout_secs: 300,
    summary_timeout_secs: 10,
    max_concurrent_threads: 10,
    mail_poll_interval_ms: 5_000,
    max_mail_messages: 10,
    max_mail_message_length: 4_096,
  });
});
