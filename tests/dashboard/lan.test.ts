import { join } from 'node:path';

import { expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, openDesk, SCREENS } from './desk.ts';
import { otherMachine } from './trusting-browser.ts';

allowForBrowsers();

const NAME = 'desk-of-tests.local';

describeWith(['chromium', 'certutil'], 'the desk on the local network', () => {
  test('a tablet that has installed the authority opens it by its name and signs in; another is warned', async () => {
    const desk = await openDesk({
      flags: ['--lan'],
      settings: { 'lan.address': '127.0.0.2', 'lan.name': NAME, 'lan.port': 0, 'lan.setup_port': 0 },
    });
    const { named, url, setup } = desk.hub.lan ?? { named: '', url: '', setup: '' };
    const machine = otherMachine(NAME, '127.0.0.2');
    const stranger = await machine.open();
    await expect((await stranger.newPage()).goto(named)).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
    await stranger.close();

    machine.trust(await (await fetch(`${setup}/parley.pem`)).text());
    const trusting = await machine.open();
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
