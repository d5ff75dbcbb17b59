import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openPty } from '@parley/runtimes';
import { expect, onTestFinished, test, vi } from 'vitest';

import { PARLEY } from '../cli/parley.ts';
import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, openDesk, PATIENCE_MS } from './desk.ts';

allowForBrowsers();

/** What would ask the terminal, set its clipboard or title, or put a link there that acts. */
const ACTING = [
  String.raw`\033[6n`,
  String.raw`\033P$qm\033\\`,
  String.raw`\033]52;c;c3RvbGVu\007`,
  String.raw`\033]0;stolen title\007`,
  String.raw`\033]8;;javascript:window.hit=1\007CLICK-ME\033]8;;\007`,
].join('');

describeWith(['chromium'], 'the screen of a managed session', () => {
  test('[C-WAKE-14] is text on the page: nothing in it acts, and nothing is typed back', async () => {
    const desk = await openDesk();
    onTestFinished(() => desk.close());
    const folder = mkdtempSync(join(tmpdir(), 'shown-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const typed = join(folder, 'typed');
    const token = join(folder, 'token');
    const worker = { agent: 'shown', workspace: 'w1', role: 'worker', session: 'shown-1' };
    writeFileSync(token, desk.signer.token(worker), { mode: 0o600 });
    const script = `stty -echo; printf 'BEFORE ${ACTING} AFTER\\n'; exec cat > '${typed}'`;
    const words = ['run', '--agent', 'shown', '--url', desk.hub.url, '--token-file', token, '--data', folder];
    const terminal = await openPty({
      file: process.execPath,
      args: [PARLEY, ...words, '--', 'bash', '-c', script],
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
      cwd: folder,
      cols: 100,
      rows: 30,
      onOutput: () => {},
    });
    onTestFinished(() => terminal.signal('SIGKILL'));
    await vi.waitFor(async () => {
      const { agents } = await desk.agent('boss', 'operator').list_agents({});
      expect(agents.find(({ agent_id }) => agent_id === 'shown')?.capabilities).toContain('terminal_screen');
      expect(existsSync(typed)).toBe(true);
    }, PATIENCE_MS);

    const page = await desk.signedIn('desktop', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.evaluate("navigator.clipboard.writeText('mine')");
    await page.goto(`${desk.hub.url}/agents/shown`);
    const screen = page.locator('pre.screen');
    await vi.waitFor(async () => {
      await page.getByRole('button', { name: /Look/ }).click();
      await screen.getByText('AFTER').waitFor({ timeout: 10_000 });
    }, PATIENCE_MS);
    expect(await screen.innerText()).toMatch(/BEFORE .*CLICK-ME AFTER/);
    expect(await screen.locator('a').count()).toBe(0);
    await screen.click();
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('mine');
    expect(await page.title()).not.toContain('stolen');
    expect(readFileSync(typed, 'utf8')).toBe('');
  });
});
