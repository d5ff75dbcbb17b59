import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { errorOf, type ProxyClient } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

/** The arguments with which the child was called. */
async function given(proxy: ProxyClient, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { structuredContent } = await proxy.call('codex', { prompt: 'echo', ...args });
  return JSON.parse(structuredContent.content) as Record<string, unknown>;
}

function git(...args: string[]): void {
  const name = ['-c', 'user.name=t', '-c', 'user.email=t@localhost', '-c', 'init.defaultBranch=main'];
  execFileSync('git', ['-C', place().work, ...name, ...args], { stdio: 'pipe' });
}

function write(path: string, text: string): string {
  const file = join(place().work, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

describe('[FR-2.1] [FR-2.6] what a session is told', () => {
  test('[FR-2.4] [AT context/1] [AT context/2] who and where it is, afresh with every turn', async () => {
    git('init', '-q');
    git('commit', '-q', '--allow-empty', '-m', 'first');
    mkdirSync(join(place().work, 'deep'));
    const proxy = await start({ cwd: join(place().work, 'deep') });
    const first = await proxy.call('codex', { prompt: 'echo', identity: 'arch' });
    const args = JSON.parse(first.structuredContent.content) as Record<string, unknown>;
    const root = JSON.stringify(place().work);
    for (const line of [
      'identity: "arch"',
      'team: "default"',
      `repo_root: ${root}`,
      'repo_name: "work"',
      'branch: "main"',
    ])
      expect(args['developer-instructions']).toContain(line);
    expect(args['cwd']).toBe(place().work);
    git('checkout', '-qb', 'feature');
    const { agent_id } = first.structuredContent;
    const reply = await proxy.call('codex-reply', { agent_id, prompt: 'echo' });
    expect(reply.structuredContent.content).toContain('branch: \\"feature\\"');
    expect((await given(proxy, { identity: 'dev' }))['developer-instructions']).toContain(
      'branch: "feature"',
    );
  });

  test('[FR-2.4] the folder that the caller names, and nothing of a repository where there is none', async () => {
    git('init', '-q');
    mkdirSync(join(place().work, 'deep'));
    const proxy = await start();
    expect(await given(proxy, { identity: 'a', cwd: 'deep' })).toMatchObject({
      cwd: join(place().work, 'deep'),
      'developer-instructions': expect.stringContaining('repo_name: "work"') as unknown,
    });
    const outside = await given(proxy, { identity: 'b', cwd: place().root });
    expect(outside['cwd']).toBe(place().root);
    for (const line of ['repo_root: null', 'repo_name: null', 'branch: null'])
      expect(outside['developer-instructions']).toContain(line);
  });

  test('what is not seen in the name of a branch is shown, to Codex and in the list of sessions', async () => {
    git('init', '-q');
    write('.git/HEAD', 'ref: refs/heads/ma\u200bin\u{e0041}\n');
    const proxy = await start();
    const args = await given(proxy, {});
    expect(args['developer-instructions']).toContain('branch: "ma\\u200bin');
    const listed = JSON.stringify(await proxy.call('agent_sessions'));
    expect(listed).toContain('ma\\\\u{200b}in\\\\u{e0041}');
    for (const sign of ['\u200b', '\u{e0041}']) expect(listed + JSON.stringify(args)).not.toContain(sign);
  });

  test("[AT context/3] [AT context/4] [FR-2.2] [FR-2.3] [C-PROXY-15] the caller's words first, its base untouched", async () => {
    const args = await given(await start(), {
      'developer-instructions': 'Be brief.',
      'base-instructions': 'You are a cat.',
    });
    expect(args['developer-instructions']).toMatch(/^Be brief\.\n\n<session-context/);
    expect(args['base-instructions']).toBe('You are a cat.');
  });

  test("[PROXY-X2] [FR-12.4] what is the proxy's own never reaches the child, nor a model that nobody named", async () => {
    const path = join(place().home, '.config/atm/config.toml');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '[plugins.atm-agent-mcp.roles.review]\nsandbox = "read-only"');
    write('file.md', 'echo');
    const proxy = await start();
    const own = { role: 'review', tag: 't', auto_mail: false };
    await given(proxy, { identity: 'x', config: { a: 1 }, ...own });
    const { structuredContent } = await proxy.call('codex', {
      agent_file: 'file.md',
      identity: 'y',
      config: {},
      ...own,
    });
    const { agent_id, threadId } = structuredContent;
    await proxy.call('agent_close', { agent_id });
    await proxy.call('codex', { agent_id, prompt: 'echo', tag: 'u', auto_mail: false });
    await proxy.call('codex-reply', { agent_id, prompt: 'echo', auto_mail: false });
    const forwarded = proxy
      .received()
      .filter(({ method }) => method === 'tools/call')
      .map(({ params }) => Object.keys((params as { arguments: object }).arguments).toSorted());
    const first = ['config', 'cwd', 'developer-instructions', 'prompt', 'sandbox'];
    expect(forwarded).toEqual([first, first, ['prompt', 'threadId'], ['prompt', 'threadId']]);
    expect(JSON.stringify(proxy.received().at(-1))).toContain(threadId);
  });

  test("[FR-12.2] [FR-13.2] a role, under the call's own words and over the configuration", async () => {
    const path = join(place().home, '.config/atm/config.toml');
    mkdirSync(dirname(path), { recursive: true });
    const role =
      '[plugins.atm-agent-mcp.roles.review]\nmodel = "big"\nsandbox = "read-only"\napproval_policy = "never"';
    writeFileSync(path, `[plugins.atm-agent-mcp]\nmodel = "small"\n${role}`);
    const proxy = await start({ args: ['--role', 'review'] });
    expect(await given(proxy, {})).toMatchObject({
      model: 'big',
      sandbox: 'read-only',
      'approval-policy': 'never',
    });
    expect(await given(proxy, { identity: 'b', model: 'own' })).toMatchObject({
      model: 'own',
      sandbox: 'read-only',
    });
  });
});

describe('a prompt, from a file or in the call', () => {
  test('[FR-16.1] [AT initialization/1] [FR-10.1] its contents are the prompt; the list tells its name and place', async () => {
    write('.claude/agents/rust-dev.md', '---\nname: rust-developer\n---\necho');
    const proxy = await start();
    const { structuredContent } = await proxy.call('codex', { agent_file: '.claude/agents/rust-dev.md' });
    expect(JSON.parse(structuredContent.content)).toMatchObject({
      prompt: '---\nname: rust-developer\n---\necho',
    });
    const { sessions } = (await proxy.call('agent_sessions')).structuredContent as unknown as {
      sessions: object[];
    };
    expect(sessions).toMatchObject([
      { agent_name: 'rust-developer', agent_source: join(place().work, '.claude/agents/rust-dev.md') },
    ]);
  });

  test('[AT initialization/3] [FR-16.2] a prompt in the call is forwarded as it is', async () => {
    const prompt = 'echo\n\n  "quotes" \\ and <tags> & \t tabs, é 👩‍💻 \u202e\n';
    expect(await given(await start(), { prompt })).toMatchObject({ prompt });
  });

  test('[FR-16.6] [AT initialization/2] [C-PROXY-14] [NFR-6] [C-PROXY-13] what is missing, elsewhere, no file, too large or no text is refused', async () => {
    const proxy = await start();
    symlinkSync('/etc/hostname', join(place().work, 'link.md'));
    execFileSync('mkfifo', [join(place().work, 'pipe.md')]);
    mkdirSync(join(place().work, 'folder.md'));
    truncateSync(write('huge.md', ''), 2 ** 30);
    writeFileSync(write('latin.md', ''), Buffer.from([0x63, 0xff, 0x64]));
    const files = [
      'gone.md',
      '../../etc/shadow',
      '/proc/self/environ',
      'link.md',
      'pipe.md',
      'folder.md',
      'huge.md',
      'latin.md',
    ];
    for (const agent_file of files) {
      const { code, data } = await errorOf(proxy.call('codex', { agent_file }));
      expect([agent_file, code, data['error_name']]).toEqual([agent_file, -32_008, 'AGENT_FILE_NOT_FOUND']);
    }
    expect(proxy.received()).toEqual([]);
  });
});

test('prompt files of the configuration reach Codex; one that cannot be read is named', async () => {
  const atm = join(place().home, '.config/atm');
  mkdirSync(atm, { recursive: true });
  writeFileSync(
    join(atm, 'config.toml'),
    '[plugins.atm-agent-mcp]\nbase_prompt_file = "base.md"\nextra_instructions_file = "extra.md"\n',
  );
  writeFileSync(join(atm, 'base.md'), 'BASE of the user');
  writeFileSync(join(atm, 'extra.md'), 'EXTRA of the user');
  git('init', '-q');
  write('base.md', 'planted by the repository');
  const proxy = await start();
  const args = await given(proxy, {});
  expect(args['base-instructions']).toBe('BASE of the user');
  expect(args['developer-instructions']).toContain('EXTRA of the user');
  execFileSync('rm', [join(atm, 'extra.md')]);
  execFileSync('mkfifo', [join(atm, 'extra.md')]);
  const refused = await errorOf(proxy.call('codex', { prompt: 'echo', identity: 'other' }));
  expect([refused.code, refused.message]).toEqual([-32_007, expect.stringContaining('is no plain file')]);
});

test('[C-PROXY-17] a cloned repository cannot name the program that is run', async () => {
  git('init', '-q');
  write('evil', '#!/bin/sh\ntouch "$(dirname "$0")/was-run"\n');
  execFileSync('chmod', ['+x', join(place().work, 'evil')]);
  write('.atm.toml', '[plugins.atm-agent-mcp]\ncodex_bin = "./evil"\nmodel = "named-by-repo"');
  write('.env', 'CODEX_HOME=./x');
  const proxy = await start();
  expect(await given(proxy, {})).toMatchObject({ model: 'named-by-repo' });
  expect(proxy.received()[0]).toMatchObject({ home: null });
  expect(execFileSync('ls', [place().work], { encoding: 'utf8' })).not.toContain('was-run');
  expect(proxy.stderr()).toContain('a setting of an untrusted repository was ignored');
});
