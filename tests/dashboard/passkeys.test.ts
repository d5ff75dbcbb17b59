import { randomUUID } from 'node:crypto';
import { join } from 'node:path';

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { runCli, runJson } from '../harness/run-cli.ts';
import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, press, type Screen, SCREENS } from './desk.ts';
import { type OtherMachine, otherMachine } from './trusting-browser.ts';

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

describeWith(['chromium', 'certutil'], 'the desk at its own addresses, and passkeys there', () => {
  let desk: Desk;
  let machine: OtherMachine;
  let trusting: Promise<Browser> | undefined;
  beforeAll(async () => {
    desk = await openDesk({
      flags: ['--lan'],
      settings: { ...LAN, 'asks.passkey': 'high_risk' },
      readyMs: 60_000,
    });
    machine = otherMachine(NAME, '127.0.0.2');
  });
  afterAll(() => desk.close());

  /** One browser for all tests, on a machine that has installed the authority. */
  function openTrusting(): Promise<Browser> {
    trusting ??= (async () => {
      machine.trust(await (await fetch(`${desk.hub.lan?.setup}/parley.pem`)).text());
      return machine.open();
    })();
    return trusting;
  }

  /** A person of one test, at a device that is signed in at one of the hub's own addresses, with an authenticator. */
  async function opened(person: string, origin: string, screen: Screen, at = desk): Promise<Page> {
    const context = await (await openTrusting()).newContext(SCREENS[screen]);
    onTestFinished(() => context.close());
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    await giveAuthenticator(page);
    const { key } = await at.agent(person, 'operator').pair_device({ idempotency_key: randomUUID() });
    await page.goto(`${origin}/#k=${key}`);
    await page.locator('.line-sign.line-live').waitFor();
    return page;
  }

  /** Adds a passkey as a person does: a code from the hub's machine, typed into the sheet. */
  async function add(person: string, page: Page, origin: string, screen: Screen, at = desk): Promise<void> {
    const { code } = await runJson<{ code: string }>(
      ['passkey', 'code', '--person', person, '--workspace', 'w1'],
      { data: at.hub.data },
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
  async function signaturesOf(): Promise<unknown> {
    const { stdout } = await runCli(['doctor', '--json'], { data: desk.hub.data });
    const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
    return checks.find((one) => one.name === 'passkeys');
  }

  /** How the doctor says that all which were approved with a passkey are right. */
  async function allRight(): Promise<unknown> {
    const { asks } = await desk.agent('auditor', 'operator').list_asks({ status: 'all', limit: 100 });
    const signed = asks.filter(({ verdict }) => verdict?.passkey !== undefined).length;
    const approvals = signed === 1 ? '1 approval' : `${signed} approvals`;
    return { name: 'passkeys', ok: true, detail: `${approvals} signed, every signature right` };
  }

  const raise = (command: string, at = desk) =>
    at.agent('builder').raise_ask({ kind: 'approval', prompt: 'May I?', command, cwd: '~/src/app' });

  test('a tablet that has installed the authority opens it by its name and signs in; another is warned', async () => {
    const { named, url, setup } = desk.hub.lan ?? { named: '', url: '', setup: '' };
    const stranger = await otherMachine(NAME, '127.0.0.2').open();
    await expect((await stranger.newPage()).goto(named)).rejects.toThrow('ERR_CERT_AUTHORITY_INVALID');
    await stranger.close();

    const browser = await openTrusting();
    const context = await browser.newContext(SCREENS.tablet);
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
      const help = await (await browser.newContext(SCREENS[screen])).newPage();
      await help.goto(setup);
      await help.getByText('Certificate Trust Settings').waitFor();
      const folder = process.env['LOOK'];
      if (folder !== undefined)
        await help.screenshot({ path: join(folder, `lan-${screen}.png`), fullPage: true });
      const wide = await help.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      expect(wide).toBeLessThanOrEqual(0);
    }
  });

  test.each(['localhost', NAME])(
    'at %s a person adds a passkey, signs one command with it, and removes it; then nothing approves',
    async (name) => {
      const local = desk.hub.url.replace('127.0.0.1', 'localhost');
      const origin = name === NAME ? (desk.hub.lan?.named ?? '') : local;
      const screen = name === NAME ? 'tablet' : 'desktop';
      const who = `kim-on-${screen}`;
      const page = await opened(who, origin, screen);
      const { ask } = await raise('rm -rf build');
      await page.goto(`${origin}/asks/${ask.ask_id}`);
      const card = page.locator('.ask');
      const approve = card.getByRole('button', { name: 'Approve with passkey' });
      await press(approve, screen);
      await card
        .getByText(`You have no passkey for ${name}: add one under System, Passkeys. Nothing was decided.`)
        .waitFor();
      await look(page, `passkey-none-${screen}`);

      await add(who, page, origin, screen);
      await page.goto(`${origin}/asks/${ask.ask_id}`);
      await approve.waitFor();
      await look(page, `passkey-ask-${screen}`);
      await press(approve, screen);
      await card.getByText('Approved by you').waitFor();
      const person = desk.agent(who, 'operator');
      const [passkey] = (await person.list_passkeys({})).passkeys;
      expect(passkey).toMatchObject({ site: name, uses: 1, person: who });
      const { verdict } = (await person.get_ask({ ask_id: ask.ask_id })).ask;
      expect(verdict).toMatchObject({ decision: 'approved', scope: 'once', passkey: passkey?.passkey_id });
      expect(await signaturesOf()).toEqual(await allRight());

      // More ways to answer sign too, each for what it says.
      const wider = (await raise('git push --force')).ask;
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
      const last = (await raise('rm -rf dist')).ask;
      await page.goto(`${origin}/asks/${last.ask_id}`);
      await press(approve, screen);
      await card.getByText(`You have no passkey for ${name}`).waitFor();
      await press(card.getByRole('button', { name: 'Deny' }), screen);
      await card.getByText('Denied by you').waitFor();
    },
  );

  test('at an address of numbers the page says so and leads to the name, signed in', async () => {
    // One that is on the local network leads to its name there.
    const alone = await openDesk({ settings: { 'asks.passkey': 'high_risk' }, readyMs: 60_000 });
    onTestFinished(() => alone.close());
    const page = await opened('kim-on-phone', alone.hub.url, 'phone', alone);
    const { ask } = await raise('rm -rf build', alone);
    await page.goto(`${alone.hub.url}/asks/${ask.ask_id}`);
    const local = alone.hub.url.replace('127.0.0.1', 'localhost');
    const words = `Passkeys work at a name, not at 127.0.0.1. Open ${local} instead.`;
    await page.getByRole('button', { name: 'Approve with passkey' }).tap();
    await page.locator('.ask').getByText(words).waitFor();
    await page.goto(`${alone.hub.url}/system`);
    const section = page.locator('section', { has: page.getByRole('heading', { name: /^Passkeys/ }) });
    await section.getByRole('button', { name: 'Add a passkey' }).tap();
    await page.getByRole('dialog').getByText(words).waitFor();
    await look(page, 'passkey-numbers-phone');
    await page.getByRole('button', { name: `Sign in at ${new URL(local).host}` }).tap();
    await page.waitForURL(`${local}/**`);
    await page.locator('.line-sign.line-live').waitFor();
    await add('kim-on-phone', page, local, 'phone', alone);
  });

  test('a browser without passkeys says so, and the person can still deny', async () => {
    const local = desk.hub.url.replace('127.0.0.1', 'localhost');
    const page = await opened('kim-without', local, 'tablet');
    await page.addInitScript(() => {
      Reflect.deleteProperty(globalThis, 'PublicKeyCredential');
    });
    const { ask } = await raise('rm -rf build');
    await page.goto(`${local}/asks/${ask.ask_id}`);
    await page.getByRole('button', { name: 'Approve with passkey' }).tap();
    await page.locator('.ask').getByText('This browser has no passkeys.').waitFor();
    await page.getByRole('button', { name: 'Deny' }).tap();
    await page.locator('.ask').getByText('Denied by you').waitFor();
  });
});
