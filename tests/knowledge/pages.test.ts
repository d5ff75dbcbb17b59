import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Client } from '@parley/client';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { allowForBrowsers, type Desk, openDesk } from '../dashboard/desk.ts';
import { hostileWords } from '../dashboard/hostile-words.ts';
import { send } from '../harness/send.ts';

allowForBrowsers();

let desk: Desk;
let ed: Client;
/** Whoever comes here was sent by a document. */
const visits: string[] = [];
const canary = createServer((request, response) => {
  visits.push(request.url ?? '');
  response.end();
});
let canaryUrl = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve));
  canaryUrl = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
  desk = await openDesk();
  ed = desk.agent('ed', 'orchestrator');
});
afterAll(async () => {
  await desk.close();
  canary.closeAllConnections();
  canary.close();
});

async function write(title: string, body: string, more: object = {}): Promise<{ id: string; uri: string }> {
  const made = await ed.create_document({
    document_id: randomUUID(),
    parent_id: 'root',
    content: { mime_type: 'text/markdown', body },
    metadata: { title, tags: ['guide'] },
    ...more,
  });
  return { id: made.id, uri: made.web_uri ?? '' };
}

const bearer = (): Record<string, string> => ({
  authorization: `Bearer ${desk.signer.token({ agent: 'bob', role: 'observer' })}`,
});

const GUIDE = `# Deploy

Run **this** before you leave, then read [[Rollback]] or [the notes](https://example.com/notes).

| step | command | who |
| --- | --- | --- |
| 1 | \`npm ci --ignore-scripts\` | the agent that holds the lock |
| 2 | \`npm run build && npm publish --tag next\` | a person |

- [x] keys
- [ ] backup

> Nothing is lost that was acknowledged.

\`\`\`sh
parley backup /backups/today && systemctl --user restart parley
\`\`\`
`;

/** True when nothing on the page stands out of it sideways. */
const fits = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth');

test('[KNOW-19] [KNOW-13] a document has a page that reads well on a tablet and a phone, light and dark', async () => {
  await write('Rollback', 'Take the backup.');
  const { uri, id } = await write('How we deploy', GUIDE);
  expect(uri).toBe(`${desk.hub.url}/d/${id}`);
  const { document } = await ed.get_document({ document_id: id });
  expect(document.web_uri).toBe(uri);
  for (const [screen, colorScheme] of [
    ['tablet', 'light'],
    ['phone', 'dark'],
  ] as const) {
    const page = await desk.signedIn(screen, { colorScheme });
    const response = await page.goto(uri);
    expect(response?.status()).toBe(200);
    expect(await page.locator('header h1').textContent()).toBe('How we deploy');
    expect(await page.locator('article table td').count()).toBe(6);
    expect(await fits(page)).toBe(true);
    const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(background).toBe(colorScheme === 'light' ? 'rgb(246, 246, 244)' : 'rgb(17, 18, 20)');
    await page.getByRole('link', { name: 'Rollback' }).click();
    await page.locator('header h1', { hasText: 'Rollback' }).waitFor();
  }
});

test('[KNOW-19] [C-LOCAL-05] [C-LOCAL-08] what a document says does nothing, loads nothing and holds nothing up', async () => {
  const page = await desk.signedIn('tablet');
  const errors: string[] = [];
  page.on('console', (message) => errors.push(message.text()));
  for (const [i, words] of hostileWords(canaryUrl).entries()) {
    const { uri } = await write(`<img src=x onerror=window.hit=1> ${i}`, words);
    expect((await page.goto(uri))?.status()).toBe(200);
    const found = await page.evaluate<{ hit: boolean; tags: number; hrefs: string[] }>(`({
      hit: 'hit' in window,
      tags: document.querySelectorAll('script,img,svg,iframe,form,input,video,link,base,object,math,[style]').length,
      hrefs: [...document.querySelectorAll('a')].map((link) => link.protocol),
    })`);
    expect(found).toMatchObject({ hit: false, tags: 0 });
    for (const protocol of found.hrefs) expect(['http:', 'https:', 'mailto:']).toContain(protocol);
  }
  expect(visits).toEqual([]);
  expect(errors).toEqual([]);
  const { uri } = await write('headers', 'x');
  const { headers } = await send(uri, { headers: bearer() });
  const policy = headers['content-security-policy'] ?? '';
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; base-uri 'none'/);
  expect(policy).toContain("frame-ancestors 'none'; sandbox");
  expect(policy).not.toMatch(/unsafe|allow-scripts|\*/);
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    'x-frame-options': 'DENY',
  });
});

test('[KNOW-19] [C-LOCAL-08] the longest table comes in parts, and the page answers at once', async () => {
  const rows = `| a | b |\n| --- | --- |\n${'| x | y |\n'.repeat(11_000)}`;
  const { uri } = await write('long', rows);
  const page = await desk.signedIn('tablet');
  await page.goto(uri);
  expect(await page.locator('nav').first().textContent()).toMatch(/Part 1 of 2/);
  expect(await page.locator('article tr').count()).toBeGreaterThan(5_000);
  await page.getByRole('link', { name: 'Next part' }).first().click();
  await page.getByText('Part 2 of 2').first().waitFor();
  expect((await send(`${uri}?part=3`, { headers: bearer() })).status).toBe(404);
});

test('[KNOW-19] a page is for those who may read the document, and says honestly what is the matter', async () => {
  const { uri, id } = await write('secret plans', 'the word is quetzal');
  const see = async (address: string, headers: Record<string, string> = {}) => {
    const { status, headers: sent, text } = await send(address, { headers });
    expect(sent['content-type']).toBe('text/html; charset=utf-8');
    expect(sent['content-security-policy']).toContain("default-src 'none'");
    if (status !== 200) expect(text).not.toContain('quetzal');
    return { status, text };
  };
  expect((await see(uri, bearer())).text).toContain('quetzal');
  expect(await see(uri)).toMatchObject({
    status: 401,
    text: expect.stringContaining('parley link') as unknown,
  });
  const stranger = desk.signer.token({ agent: 'eve', workspace: 'elsewhere', role: 'operator' });
  expect((await see(uri, { authorization: `Bearer ${stranger}` })).status).toBe(404);
  expect((await see(`${desk.hub.url}/d/${randomUUID()}`, bearer())).status).toBe(404);
  expect((await see(`${desk.hub.url}/d/<script>`, bearer())).text).not.toContain('<script>');
  expect((await see(`${uri}?revision=9`, bearer())).status).toBe(404);
  expect((await see(`${uri}?revision=x`, bearer())).status).toBe(400);
  await ed.update_document({
    document_id: id,
    patch: { content: { body: 'another word' } },
    update_mask: ['content.body'],
  });
  expect((await see(uri, bearer())).text).not.toContain('quetzal');
  expect((await see(`${uri}?revision=1`, bearer())).text).toContain('(not the newest)');
  const hidden = await write('for machines', 'x', { is_human_readable: false });
  expect(hidden.uri).toBe('');
  expect((await see(`${desk.hub.url}/d/${hidden.id}`, bearer())).status).toBe(404);
  await ed.delete_document({ document_id: id });
  expect((await see(uri, bearer())).status).toBe(404);
});

test('[KNOW-19] [C-LOCAL-06] the sign-in of a browser counts when a person opens the page, not when a site does', async () => {
  const { uri } = await write('for kim', 'hello kim');
  const page = await desk.signedIn('desktop');
  const [cookie] = await page.context().cookies();
  const sent = { cookie: `${cookie?.name}=${cookie?.value}` };
  const status = async (headers: Record<string, string>) =>
    (await send(uri, { headers: { ...sent, ...headers } })).status;
  expect(await status({ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' })).toBe(200);
  expect(await status({ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'navigate' })).toBe(200);
  for (const site of ['cross-site', 'same-site'])
    expect(await status({ 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' })).toBe(403);
  expect(await status({ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'no-cors' })).toBe(403);
  expect(await status({})).toBe(403);
  const examined = await (await desk.context('phone', { colorScheme: 'dark' })).newPage();
  // The page itself runs no script: what it says is examined without its policy.
  await examined.setContent((await send(uri, { headers: bearer() })).text);
  await examined.evaluate(axe.source);
  const found = 'axe.run().then(({ violations }) => violations.map(({ id }) => id))';
  expect(await examined.evaluate<string[]>(found)).toEqual([]);
});
