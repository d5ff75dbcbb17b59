import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openPty } from '@parley/runtimes';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createVisitor } from '../harness/issuer-visit.ts';
import { type HubProcess, startHub } from '../harness/start-hub.ts';
import { oidcEnv, oidcSettings, startIssuer, type TestIssuer } from '../harness/start-issuer.ts';
import { describeWith } from '../tools/describe-with.ts';

/** The whole address, up to the blank or the control character that ends it. */
const ADDRESS = /http:\/\/localhost:\d+\/auth\?[\w%&=.~:+-]+(?=[^\w%&=.~:+-])/;

describeWith(['claude'], 'the real Claude Code', ({ claude }) => {
  const home = mkdtempSync(join(tmpdir(), 'parley-oauth-'));
  let issuer: TestIssuer;
  let hub: HubProcess;
  beforeAll(async () => {
    issuer = await startIssuer();
    hub = await startHub({ settings: oidcSettings(issuer), env: oidcEnv(issuer) });
    issuer.serve(hub.url);
    issuer.accounts.set('u-ada', { preferred_username: 'ada', groups: ['staff'] });
  });
  afterAll(async () => {
    expect(await hub.stop()).toBe(0);
    rmSync(home, { recursive: true, force: true });
  });

  /** Runs one of its commands at a terminal; `answer` sees what it says and may type something, once. */
  async function run(
    args: readonly string[],
    answer?: (said: string) => Promise<string> | undefined,
  ): Promise<string> {
    let said = '';
    let typing: Promise<unknown> | undefined;
    const pty = await openPty({
      file: claude,
      args,
      // Wide, so that an address stays in one line.
      cols: 2_000,
      rows: 50,
      cwd: home,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: home,
        CLAUDE_CONFIG_DIR: home,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_ERROR_REPORTING: '1',
      },
      onOutput(bytes) {
        said += bytes.toString();
        typing ??= answer?.(said)?.then((line) => pty.write(`${line}\r`));
      },
    });
    const timer = setTimeout(() => pty.signal('SIGKILL'), 60_000);
    await pty.exited;
    clearTimeout(timer);
    await typing;
    return said;
  }

  test('[C-MCP-12] finds the issuer by the hub’s metadata, lets a person sign in, and is connected', async () => {
    await run(['mcp', 'add', '--transport', 'http', 'hub', `${hub.url}/mcp`]);
    expect(await run(['mcp', 'list'])).toMatch(/hub: .*authentication/i);
    const visitor = createVisitor(issuer);
    const said = await run(['mcp', 'login', '--no-browser', 'hub'], (text) => {
      const url = ADDRESS.exec(text)?.[0];
      return url === undefined ? undefined : visitor.toReturn(url, 'u-ada');
    });
    expect(said).toContain(`${issuer.url}/auth?`);
    expect(new URL(ADDRESS.exec(said)?.[0] ?? '').searchParams.get('resource')).toBe(`${hub.url}/mcp`);
    expect(await run(['mcp', 'list'])).toMatch(/hub: .*Connected/);
  }, 180_000);
});
