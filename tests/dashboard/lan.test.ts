import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, openDesk, SCREENS } from './desk.ts';

allowForBrowsers();

const NAME = 'desk-of-tests.local';

describeWith(['chromium', 'certutil'], 'the desk on the local network', (tools) => {
  test('a tablet that has installed the authority opens it by its name and signs in; another is warned', async () => {
    const desk = await openDesk({
      flags: ['--lan'],
      settings: { 'lan.address': '127.0.0.2', 'lan.name': NAME, 'lan.port': 0, 'lan.setup_port': 0 },
    });
    const { named, url, setup } = desk.hub.lan ?? { named: '', url: '', setup: '' };
    const home = mkdtempSync(join(tmpdir(), 'parley-nss-'));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const open = () =>
      chromium.launch({
        executablePath: tools.chromium,
        args: [
          '--no-sandbox',
          '--disable-dev-shm-usage',
          '--disable-gpu',
          `--host-resolver-rules=MAP ${NAME} 127.0.0.2`,
        ],
        env: { ...process.env, HOME: home },
      });
    const stranger = await open();
    await expect((await stranger.newPage()).goto(named)).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
    await stranger.close();

    const database = join(home, '.pki/nssdb');
    mkdirSync(database, { recursive: true });
    const certificate = join(home, 'parley.pem');
    writeFileSync(certificate, await (await fetch(`${setup}/parley.pem`)).text());
    execFileSync(tools.certutil, ['-d', `sql:${database}`, '-N', '--empty-password']);
    execFileSync(tools.certutil, [
      '-d',
      `sql:${database}`,
      '-A',
      '-t',
      'C,,',
      '-n',
      'parley',
      '-i',
      certificate,
    ]);
    const trusting = await open();
    onTestFinished(() => trusting.close());
    const context = await trusting.newContext(SCREENS.tablet);
    const page = await context.newPage();
    const paired = await desk.agent('kim', 'operator').pair_device();
    // What the picture leads to is where a tablet finds the hub.
    expect(paired.address).toBe(url);
    await page.goto(`${named}/#k=${paired.key}`);
    await page.locator('.line-sign.line-live').waitFor();
    expect(await page.evaluate('isSecureContext')).toBe(true);
    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ secure: true, httpOnly: true, sameSite: 'Strict' });
    await page.goto(`${named}/system`);
    await page.getByRole('button', { name: 'Sign one in' }).click();
    await page.getByRole('img', { name: 'The sign-in link as a QR code' }).waitFor();

    for (const screen of ['tablet', 'phone', 'desktop'] as const) {
      const help = await (await trusting.newContext(SCREENS[screen])).newPage();
      await help.goto(setup);
      await help.getByText('Certificate Trust Settings').waitFor();
      const folder = process.env['LOOK'];
      if (folder !== undefined)
        await help.screenshot({ path: join(folder, `lan-${screen}.png`), fullPage: true });
      const wide = await help.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect(wide).toBeLessThanOrEqual(0);
    }
    await desk.close();
  });
});
