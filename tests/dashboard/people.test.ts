import { mkdirSync } from 'node:fs';

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { runJson } from '../harness/run-cli.ts';
import { createVisitor, type Visitor } from '../harness/issuer-visit.ts';
import { startIssuer, oidcEnv, oidcSettings, type TestIssuer } from '../harness/start-issuer.ts';
import { allowForBrowsers, type Desk, openDesk, type Screen } from './desk.ts';

allowForBrowsers();

let issuer: TestIssuer;
let desk: Desk;
beforeAll(async () => {
  issuer = await startIssuer();
  desk = await openDesk({ settings: oidcSettings(issuer), env: oidcEnv(issuer) });
  issuer.serve(desk.hub.url);
  issuer.accounts.set('u-ada', { preferred_username: 'ada', groups: ['staff', 'second'] });
  issuer.accounts.set('u-bo', { preferred_username: 'bo', groups: ['staff'] });
  issuer.accounts.set('u-cy', { preferred_username: 'cy', groups: ['others'] });
  issuer.accounts.set('u-dee', { groups: ['staff'] });
  issuer.accounts.set('u-twin', { preferred_username: 'ada', groups: ['staff'] });
});
afterAll(() => desk.close());

const folder = process.env['PARLEY_PICTURES'];

async function picture(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png` });
}

/** A page of a browser that reaches this machine and nothing else. */
async function open(screen: Screen = 'desktop'): Promise<Page> {
  const context = await desk.context(screen);
  context.setDefaultTimeout(60_000);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  // The pages of the issuer name a font elsewhere; here everything is without TLS.
  await session.send('Network.setBlockedURLs', { urls: ['https://*'] });
  return page;
}

/** Another device of a person, without a screen. */
async function visit(account: string): Promise<Visitor> {
  const visitor = createVisitor(issuer);
  expect((await visitor.signIn(desk.hub.url, account)).status).toBe(303);
  return visitor;
}

const isIn = async (visitor: Visitor): Promise<boolean> =>
  (await visitor.get(`${desk.hub.url}/session`, { 'sec-fetch-site': 'same-origin' })).status === 200;

const atIssuer = (page: Page) => page.getByRole('link', { name: /^Sign in with localhost/ });

/** Goes to the issuer and comes back; the page is then wherever the hub put it. */
async function signIn(page: Page, account: string, path = '/'): Promise<void> {
  await page.goto(`${desk.hub.url}${path}`);
  await atIssuer(page).click();
  await page.locator('input[name=login]').fill(account);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
  await page.waitForURL((url) => url.origin === desk.hub.url && !url.pathname.startsWith('/session/'));
}

async function signedIn(account: string, screen: Screen = 'desktop', path = '/'): Promise<Page> {
  const page = await open(screen);
  await signIn(page, account, path);
  await page.locator('.line-sign.line-live').waitFor();
  return page;
}

const who = (page: Page): Promise<{ agent_id: string; workspace_id: string; device_id: string }> =>
  page.evaluate(async () => (await fetch('/session')).json() as never);

const isOut = (page: Page): Promise<void> => atIssuer(page).waitFor();

test('a person signs in at the issuer, comes back to the page they wanted and speaks as themselves, on a device of their own', async () => {
  const page = await open('tablet');
  await page.goto(`${desk.hub.url}/agents`);
  await atIssuer(page).waitFor();
  await picture(page, 'sign-in-tablet');
  await signIn(page, 'u-ada', '/agents');
  await page.locator('.line-sign.line-live').waitFor();
  expect(new URL(page.url()).pathname).toBe('/agents');
  expect(await who(page)).toMatchObject({ agent_id: 'ada', workspace_id: 'w1', workspaces: ['w1', 'w2'] });
  // What went over the wire to get here stays nowhere: no code, no state in the address or its history.
  expect(page.url()).not.toContain('code');
  const cookies = await page.context().cookies(desk.hub.url);
  expect(cookies.filter(({ name }) => name.includes('sign-in'))).toEqual([]);
  expect(cookies.filter(({ name }) => /^parley-\d+$/.test(name))).toMatchObject([
    { httpOnly: true, sameSite: 'Strict' },
  ]);

  // What they say is said by them, with the role of the mapping, on a device of their own.
  const { device_id } = await who(page);
  const said = await page.evaluate(async () => {
    const call = async (name: string, input: unknown): Promise<Record<string, string>> =>
      (
        await fetch(`/v1/${name}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(input),
        })
      ).json() as never;
    const { thread_id } = await call('create_thread', { title: 'from ada' });
    await call('post_message', { thread_id, schema_version: 1, body: 'hello' });
    return call('read_messages', { thread_id });
  });
  expect(JSON.stringify(said)).toContain('"sender_agent_id":"ada"');
  const { devices } = await runJson<{ devices: { device_id: string; agent_id: string; role: string }[] }>(
    ['device', 'ls', '--workspace', 'w1'],
    { data: desk.hub.data },
  );
  expect(devices).toContainEqual(expect.objectContaining({ device_id, agent_id: 'ada', role: 'operator' }));
});

test('signing out ends every device of the person and nobody else’s', async () => {
  const [second, third] = [await visit('u-ada'), await visit('u-bo')];
  const first = await signedIn('u-ada');
  await first.goto(`${desk.hub.url}/system`);
  await first.getByRole('button', { name: 'Sign out everywhere' }).click();
  await picture(first, 'sign-out-desktop');
  await first.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
  await isOut(first);
  expect([await isIn(second), await isIn(third)]).toEqual([false, true]);
  // The same browser gets in again: what ended is the sign-in, not the person.
  await atIssuer(first).click();
  await first.locator('.line-sign.line-live').waitFor();
});

test('an operator who revokes one device of a person ends them all', async () => {
  const first = await visit('u-bo');
  const second = await signedIn('u-bo', 'phone');
  const asked = await first.get(`${desk.hub.url}/session`, { 'sec-fetch-site': 'same-origin' });
  const { device_id } = JSON.parse(asked.text) as { device_id: string };
  await desk.agent('kim', 'operator').revoke_device({ device_id });
  expect(await isIn(first)).toBe(false);
  await isOut(second);
});

test('when the session at the issuer ends, the devices here end', async () => {
  const other = await visit('u-bo');
  const page = await signedIn('u-bo');
  const tab = await page.context().newPage();
  await tab.goto(`${issuer.url}/session/end`);
  await tab.locator('button[name=logout][value=yes]').click();
  await isOut(page);
  expect(await isIn(other)).toBe(false);
  await tab.goto(desk.hub.url);
  await isOut(tab);
});

test('a person goes on in another of their workspaces, as far as that one lets them', async () => {
  const page = await signedIn('u-ada');
  const before = await who(page);
  await page.goto(`${desk.hub.url}/system`);
  await page.getByRole('group', { name: 'Workspace' }).scrollIntoViewIfNeeded();
  await picture(page, 'workspaces-desktop');
  await page.getByRole('group', { name: 'Workspace' }).getByRole('button', { name: 'w2' }).click();
  await page.waitForURL((url) => url.pathname !== '/system');
  await page.locator('.line-sign.line-live').waitFor();
  const after = await who(page);
  expect(after).toMatchObject({ agent_id: 'ada', workspace_id: 'w2', read_only: true });
  expect(after.device_id).not.toBe(before.device_id);
  const elsewhere = await page.evaluate(
    async () =>
      (
        await fetch('/session', {
          method: 'PUT',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ workspace_id: 'w3' }),
        })
      ).status,
  );
  expect(elsewhere).toBe(403);
});

test('whoever the mapping does not know is told in words', async () => {
  const page = await open('phone');
  for (const [account, words] of [
    ['u-cy', 'no access to this hub'],
    ['u-dee', 'no name that can be used here'],
    ['u-twin', 'already belongs to somebody else'],
  ] as const) {
    await page.context().clearCookies();
    await signIn(page, account);
    await page.getByRole('alert').filter({ hasText: words }).waitFor();
    await picture(page, `refused-${account}`);
    expect(new URL(page.url()).hash).toBe('');
    expect(await page.evaluate(async () => (await fetch('/session')).status)).toBe(401);
  }
});

test('who changes their mind is back at the sign-in; an issuer that does not answer is told in words, and nothing needs a restart when it does', async () => {
  const page = await open('tablet');
  await page.goto(desk.hub.url);
  await atIssuer(page).click();
  await page.getByText('[ Cancel ]').click();
  await page.getByRole('alert').filter({ hasText: 'You did not sign in' }).waitFor();
  issuer.before((request, response) => {
    if (request.url?.startsWith('/token') !== true) return false;
    response.destroy();
    return true;
  });
  await signIn(page, 'u-bo');
  await page.getByRole('alert').filter({ hasText: 'does not answer' }).waitFor();
  await picture(page, 'unreachable-tablet');
  issuer.before(undefined);
  await atIssuer(page).click();
  await page.locator('.line-sign.line-live').waitFor();
});
