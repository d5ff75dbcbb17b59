import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { startHub, type TestHub } from '../cli/parley.ts';
import { allowForBrowsers, openBrowser } from '../dashboard/desk.ts';
import { describeWith } from '../tools/describe-with.ts';
import { ROOT } from './page.ts';

allowForBrowsers();

let hub: TestHub;
beforeAll(async () => {
  hub = await startHub();
});
afterAll(() => hub.stop());

const get = (path: string, init?: RequestInit): Promise<Response> => fetch(hub.url + path, init);
const idsIn = (page: string): string[] => [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
const linksIn = (page: string): string[] =>
  [...page.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, link = '']) => link.replaceAll('&amp;', '&'));

test('/docs is served to everybody, as strictly as the dashboard', async () => {
  const answer = await get('/docs');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toBe((await get('/')).headers.get('content-security-policy'));
  expect(policy).toContain("script-src 'self'");
  expect(await answer.text()).toContain('<h1 id="all-pages">All pages</h1>');
  const etag = answer.headers.get('etag') ?? '';
  expect((await get('/docs', { headers: { 'if-none-match': etag } })).status).toBe(304);
  expect((await get('/docs', { method: 'POST' })).status).toBe(405);
});

test.each([
  '/docs/nothing',
  '/docs/../parley.js',
  '/docs/%2e%2e/parley.js',
  '/docs/..%2fparley.js',
  '/docsx',
])('%s is no page', async (path) => {
  expect((await get(path)).status).toBe(404);
});

test('every page of the clone is there, and every link inside leads to a page and a heading', async () => {
  const pages = new Map<string, string>();
  const wanted = ['/docs'];
  const others = new Set<string>();
  const broken: string[] = [];
  for (const address of wanted) {
    const answer = await get(address);
    if (answer.status !== 200) broken.push(`${address}: ${answer.status}`);
    const page = await answer.text();
    pages.set(address, page);
    for (const link of linksIn(page)) {
      if (/^https?:/.test(link) || link === '/') continue;
      const path = link.split('#')[0] ?? '';
      if (/\.\w+$/.test(path)) others.add(path);
      else if (path !== '' && !wanted.includes(path)) wanted.push(path);
    }
  }
  for (const [address, page] of pages)
    for (const link of linksIn(page)) {
      const [path = '', anchor] = link.split('#');
      const target = pages.get(path === '' ? address : path);
      if (
        anchor !== undefined &&
        !link.startsWith('http') &&
        target !== undefined &&
        !idsIn(target).includes(anchor)
      )
        broken.push(`${address}: ${link}`);
    }
  for (const path of others) if ((await get(path)).status !== 200) broken.push(path);
  expect(broken).toEqual([]);
  const sources = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    // What stands beside the pictures tells how they came to be, and is read in the clone.
    .filter((name) => name.endsWith('.md') && name !== 'README.md' && !name.startsWith('pictures'))
    .map((name) => `/docs/${name.slice(0, -'.md'.length)}`);
  expect(sources.filter((address) => !pages.has(address))).toEqual([]);
});

describeWith(['chromium'], 'in a browser', () => {
  test('a page is found by its words, opened by Enter, and nothing is refused by the policy', async () => {
    const page = await (await openBrowser()).newPage();
    const complaints: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${hub.url}/docs`);
    await page.keyboard.press('/');
    await page.keyboard.type('move to postgresql');
    await page.locator('#found a').first().waitFor();
    expect(await page.locator('#found a').first().getAttribute('href')).toBe(
      '/docs/how-to/move-to-postgresql',
    );
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/how-to/move-to-postgresql');
    expect(await page.locator('main h1').innerText()).toBe('Move to PostgreSQL');
    const look = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    expect(['rgb(246, 246, 244)', 'rgb(17, 18, 20)']).toContain(look);
    await page.locator('#search').fill('xyzzy');
    await page.getByText('Nothing is found for “xyzzy”.').waitFor();
    const isSideways = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
    expect([isSideways, complaints]).toEqual([false, []]);
    await page.close();
  });
});
