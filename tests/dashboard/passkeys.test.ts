import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import { chromium, type Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';

import { runCli, runJson } from '../harness/run-cli.ts';
import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, PERSON, press, type Screen, SCREENS } from './desk.ts';

allowForBrowsers();

const NAME = 'desk-of-tests.local';
const LAN = { 'lan.address': '127.0.0.2', 'lan.name': NAME, 'lan.port': 0, 'lan.setup_port': 0 };

/** A device with a finger reader that always knows its person. */
async function giveAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

describeWith(['chromium'], 'passkeys in a browser', ({ chromium: executablePath }) => {
  /** A page of a device that is signed in at one of the hub's own addresses, with an authenticator. */
  async function opened(desk: Desk, origin: string, screen: Screen): Promise<Page> {
    const browser = await chromium.launch({
      executablePath,
      args: [
        '--no-sandbox',
        '--disable-dev-shm-usage',
        '--disable-gpu',
        `--host-resolver-rules=MAP ${NAME} 127.0.0.2`,
      ],
    });
    onTestFinished(() => browser.close());
    const context = await browser.newContext({ ...SCREENS[screen], ignoreHTTPSErrors: true });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    await giveAuthenticator(page);
    const { key } = await desk.agent(PERSON, 'operator').pair_device({ idempotency_key: randomUUID() });
    await page.goto(`${origin}/#k=${key}`);
    await page.locator('.line-sign.line-live').waitFor();
    return page;
  }

  /** Adds a passkey as a person does: a code from the hub's machine, typed into the sheet. */
  async function add(desk: Desk, page: Page, origin: string, screen: Screen): Promise<void> {
    const { code } = await runJson<{ code: string }>(
      ['passkey', 'code', '--person', PERSON, '--workspace', 'w1'],
      { data: desk.hub.data },
    );
    await page.goto(`${origin}/system`);
    const section = page.locator('section', { has: page.getByRole('heading', { name: /^Passkeys/ }) });
    await press(section.getByRole('button', { name: 'Add a passkey' }), screen);
    await page.getByLabel('Code').fill(code);
    await page.getByLabel('Name of this passkey').fill('My finger');
    await look(page, `passkey-sheet-${screen}`);
    await press(page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }), screen);
    await section.getByText('My finger').waitFor();
    await look(page, `passkey-system-${screen}`);
  }

  async function look(page: Page, name: string): Promise<void> {
    const folder = process.env['LOOK'];
    if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
  }

  /** What the doctor says of all that was signed. */
  async function signaturesOf(desk: Desk): Promise<unknown> {
    const { stdout } = await runCli(['doctor', '--json'], { data: desk.hub.data });
    const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
    return checks.find((one) => one.name === 'passkeys');
  }

  const raise = (desk: Desk, command: string) =>
    desk.agent('builder').raise_ask({ kind: 'approval', prompt: 'May I?', command, cwd: '~/src/app' });

  test.each(['localhost', NAME])(
    'at %s a person adds a passkey, signs one command with it, and removes it; then nothing approves',
    async (name) => {
      const desk = await openDesk({
        flags: ['--lan'],
        settings: { ...LAN, 'asks.passkey': 'high_risk' },
        readyMs: 60_000,
      });
      const local = desk.hub.url.replace('127.0.0.1', 'localhost');
      const origin = name === NAME ? (desk.hub.lan?.named ?? '') : local;
      const screen = name === NAME ? 'tablet' : 'desktop';
      const page = await opened(desk, origin, screen);
      const { ask } = await raise(desk, 'rm -rf build');
      await page.goto(`${origin}/asks/${ask.ask_id}`);
      const card = page.locator('.ask');
      const approve = card.getByRole('button', { name: 'Approve with passkey' });
      await press(approve, screen);
      await card
        .getByText(`You have no passkey for ${name}: add one under System, Passkeys. Nothing was decided.`)
        .waitFor();
      await look(page, `passkey-none-${screen}`);

      await add(desk, page, origin, screen);
      await page.goto(`${origin}/asks/${ask.ask_id}`);
      await approve.waitFor();
      await look(page, `passkey-ask-${screen}`);
      await press(approve, screen);
      await card.getByText('Approved by you').waitFor();
      const person = desk.agent(PERSON, 'operator');
      const [passkey] = (await person.list_passkeys({})).passkeys;
      expect(passkey).toMatchObject({ site: name, uses: 1, person: PERSON });
      const { verdict } = (await person.get_ask({ ask_id: ask.ask_id })).ask;
      expect(verdict).toMatchObject({ decision: 'approved', scope: 'once', passkey: passkey?.passkey_id });
      expect(await signaturesOf(desk)).toEqual({
        name: 'passkeys',
        ok: true,
        detail: '1 approval signed, every signature right',
      });

      // More ways to answer sign too, each for what it says.
      const wider = (await raise(desk, 'git push --force')).ask;
      await page.goto(`${origin}/asks/${wider.ask_id}`);
      await press(card.getByRole('button', { name: 'More ways to answer' }), screen);
      await press(page.getByRole('button', { name: /Approve for this session with passkey/ }), screen);
      await card.getByText('Approved for this session by you').waitFor();
      expect((await person.get_ask({ ask_id: wider.ask_id })).ask.verdict).toMatchObject({
        scope: 'session',
      });

      await page.goto(`${origin}/system`);
      const section = page.locator('section', { has: page.getByRole('heading', { name: /^Passkeys/ }) });
      await press(section.getByRole('button', { name: 'Remove' }), screen);
      await press(page.getByRole('dialog').getByRole('button', { name: 'Remove' }), screen);
      await page.getByText('My finger is removed.').waitFor();
      const last = (await raise(desk, 'rm -rf dist')).ask;
      await page.goto(`${origin}/asks/${last.ask_id}`);
      await press(approve, screen);
      await card.getByText(`You have no passkey for ${name}`).waitFor();
      await press(card.getByRole('button', { name: 'Deny' }), screen);
      await card.getByText('Denied by you').waitFor();
      await desk.close();
    },
  );

  test('at an address of numbers the page says so and leads to the name, signed in', async () => {
    const desk = await openDesk({ settings: { 'asks.passkey': 'high_risk' }, readyMs: 60_000 });
    const page = await opened(desk, desk.hub.url, 'phone');
    const { ask } = await raise(desk, 'rm -rf build');
    await page.goto(`${desk.hub.url}/asks/${ask.ask_id}`);
    const local = desk.hub.url.replace('127.0.0.1', 'localhost');
    const words = `Passkeys work at a name, not at 127.0.0.1. Open ${local} instead.`;
    await page.getByRole('button', { name: 'Approve with passkey' }).tap();
    await page.locator('.ask').getByText(words).waitFor();
    await page.goto(`${desk.hub.url}/system`);
    const section = page.locator('section', { has: page.getByRole('heading', { name: /^Passkeys/ }) });
    await section.getByRole('button', { name: 'Add a passkey' }).tap();
    await page.getByRole('dialog').getByText(words).waitFor();
    await look(page, 'passkey-numbers-phone');
    await page.getByRole('button', { name: `Sign in at ${new URL(local).host}` }).tap();
    await page.waitForURL(`${local}/**`);
    await page.locator('.line-sign.line-live').waitFor();
    await add(desk, page, local, 'phone');
    await desk.close();
  });

  test('a browser without passkeys says so, and the person can still deny', async () => {
    const desk = await openDesk({ settings: { 'asks.passkey': 'high_risk' }, readyMs: 60_000 });
    const local = desk.hub.url.replace('127.0.0.1', 'localhost');
    const page = await opened(desk, local, 'tablet');
    await page.addInitScript(() => {
      Reflect.deleteProperty(globalThis, 'PublicKeyCredential');
    });
    const { ask } = await raise(desk, 'rm -rf build');
    await page.goto(`${local}/asks/${ask.ask_id}`);
    await page.getByRole('button', { name: 'Approve with passkey' }).tap();
    await page.locator('.ask').getByText('This browser has no passkeys.').waitFor();
    await page.getByRole('button', { name: 'Deny' }).tap();
    await page.locator('.ask').getByText('Denied by you').waitFor();
    await desk.close();
  });
});
