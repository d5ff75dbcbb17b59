import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { hostileWords } from './hostile-words.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, PERSON } from './desk.ts';

allowForBrowsers();

/** A web server that is not ours, and what it was asked for. */
interface Stranger {
  url: string;
  asked: string[];
  close(): void;
}

async function openStranger(page: string): Promise<Stranger> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, close: () => server.close() };
}

describeWith(['chromium'], 'the dashboard and those who mean it ill', () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(async () => {
    await desk.close();
  });

  test('[C-LOCAL-06] a page of another origin gets nowhere with the cookie: no socket, no form, no call, no frame', async () => {
    const context = await desk.context('desktop', { serviceWorkers: 'allow' });
    const page = await context.newPage();
    await page.goto(await desk.link());
    await page.locator('.line-sign.line-live').waitFor();
    const { url } = desk.hub;
    // On another port of the same host the browser sends the cookie along: it is the hub that must refuse.
    const stranger = await openStranger(
      `<form id="f" method="post" enctype="text/plain" action="${url}/v1/create_thread" target="there"><input name='{"title":"forged","x":"' value='"}'></form><iframe name="there"></iframe><iframe id="framed" src="${url}/now"></iframe>`,
    );
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.url().startsWith(url) && response.status() >= 400)
        refused.push(`${response.status()} ${new URL(response.url()).pathname}`);
    });
    await page.goto(stranger.url);
    await page.evaluate('document.getElementById("f").submit()');
    const tried = await page.evaluate<string[]>(`Promise.all([
      fetch('${url}/v1/create_thread', { method: 'POST', credentials: 'include', headers: { 'content-type': 'application/json' }, body: '{"title":"forged"}' }).then((r) => 'read ' + r.status, () => 'blocked'),
      fetch('${url}/v1/create_thread', { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{"title":"forged"}' }).then((r) => r.type, () => 'blocked'),
      fetch('${url}/session', { credentials: 'include' }).then((r) => 'read ' + r.status, () => 'blocked'),
      new Promise((resolve) => { const s = new WebSocket('${url.replace('http', 'ws')}/ws?version=1.0'); s.onopen = () => resolve('open'); s.onerror = () => resolve('blocked'); }),
    ])`);
    expect(tried).toEqual(['blocked', 'opaque', 'blocked', 'blocked']);
    await vi.waitFor(() => expect(refused).toContain('403 /v1/create_thread'), PATIENCE_MS);
    expect(refused.every((line) => line.startsWith('403'))).toBe(true);
    expect(await page.frameLocator('#framed').locator('#app').count()).toBe(0);
    const { threads } = await desk.agent(PERSON, 'operator').list_threads();
    expect(threads.map(({ title }) => title)).not.toContain('forged');
    stranger.close();
  });

  test('[C-LOCAL-07] the browser keeps the app’s own files and nothing that the hub said, before and after signing out', async () => {
    const agent = desk.agent('keeper');
    await agent.register_agent({ name: 'keeper' });
    const { thread_id } = await agent.create_thread({ title: 'Kept nowhere', participants: [PERSON] });
    await agent.post_message({ thread_id, schema_version: 1, body: 'a confidential word' });
    const context = await desk.context('desktop', { serviceWorkers: 'allow' });
    const page = await context.newPage();
    const link = await desk.link();
    await page.goto(link);
    await page.locator('.line-sign.line-live').waitFor();
    expect(page.url()).toBe(`${desk.hub.url}/`);
    await page.evaluate('navigator.serviceWorker.ready');
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.locator('.message', { hasText: 'a confidential word' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('a draft');
    const look = () =>
      page.evaluate<{
        paths: string[];
        text: string;
        bases: unknown[];
        cookie: string;
      }>(`(async () => {
      const found = { paths: [], text: JSON.stringify({ ...localStorage, ...sessionStorage }), bases: await indexedDB.databases(), cookie: document.cookie };
      for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        for (const request of await cache.keys()) {
          found.paths.push(new URL(request.url).pathname);
          found.text += await (await cache.match(request)).text();
        }
      }
      return found;
    })()`);
    const kept = await look();
    expect(kept.paths).toContain('/');
    expect(kept.paths.filter((path) => path.startsWith('/v1') || path === '/session')).toEqual([]);
    const [cookie] = await context.cookies();
    const secrets = [
      'a confidential word',
      link.split('#k=')[1] ?? '?',
      cookie?.value ?? '?',
      'Kept nowhere',
    ];
    for (const secret of secrets) expect(kept.text).not.toContain(secret);
    expect({ bases: kept.bases, cookie: kept.cookie }).toEqual({ bases: [], cookie: '' });
    await page.goto(`${desk.hub.url}/system`);
    await page.getByRole('button', { name: /^Sign out of/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Parley' }).waitFor();
    expect(await context.cookies()).toEqual([]);
    const left = await look();
    expect(left.text).toMatch(/^\{\}/);
    expect(left.paths.filter((path) => path.startsWith('/v1') || path === '/session')).toEqual([]);
    for (const secret of [...secrets, 'a draft']) expect(left.text).not.toContain(secret);
    expect({ bases: left.bases, cookie: left.cookie }).toEqual({ bases: [], cookie: '' });
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.getByRole('heading', { name: 'Sign in to Parley' }).waitFor();
    expect(await page.content()).not.toContain('confidential');
  });

  test('[C-LOCAL-08] hostile Markdown is inert, loads nothing from elsewhere, and the page stays responsive', async () => {
    const canary = await openStranger('canary');
    const agent = desk.agent('mallory');
    const { thread_id } = await agent.create_thread({
      title: '<img src=x onerror=alert(1)>',
      participants: [PERSON],
    });
    const words = hostileWords(canary.url);
    for (const body of words) await agent.post_message({ thread_id, schema_version: 1, body });
    await agent.raise_ask({
      thread_id,
      kind: 'approval',
      prompt: words[0] ?? '',
      command: '<script>window.hit=1</script>',
    });
    const page = await desk.signedIn('tablet');
    const trouble: string[] = [];
    page.on('dialog', (dialog) => {
      trouble.push(dialog.message());
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => trouble.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') trouble.push(message.text());
    });
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await page.locator('.message').first().waitFor();
    const end = page.locator('.message', { hasText: 'The last of them.' });
    /** Every link that was shown on the way, by its words: only what is in view is on the page. */
    const links = new Map<string, { href: string | null; protocol: string; kept: string[] }>();
    const inspect = async (): Promise<void> => {
      const { left, found } = await page.evaluate<{
        left: string[];
        found: { words: string; href: string | null; protocol: string; kept: string[] }[];
      }>(`(() => {
        const all = (what) => [...document.querySelectorAll('.prose')].flatMap((node) => [...node.querySelectorAll(what)]);
        return {
          left: all('script,img,iframe,form,svg,style,object,embed,video,audio,link,meta,base,[style],[onerror],[onclick],[id],[class]').map((bad) => bad.outerHTML),
          found: all('a').map((node) => ({ words: node.textContent, href: node.getAttribute('href'), protocol: node.protocol, kept: [node.target, node.rel] })),
        };
      })()`);
      expect(left).toEqual([]);
      for (const { words: text, ...link } of found) links.set(text, link);
    };
    await inspect();
    for (let i = 0; i < 200 && !(await end.isVisible()); i++) {
      await page.evaluate(`document.querySelector('.message-scroll').scrollBy(0, 4_000)`);
      await page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
      );
      await inspect();
    }
    expect(links.get('ok')?.href).toBe('https://example.com/');
    expect(links.get('seen')?.href).toBe(`${canary.url}/picture`);
    // What would act was shown too, and leads nowhere.
    expect([links.get('click')?.href, links.get('data')?.href]).toEqual([null, null]);
    for (const { href, protocol, kept } of links.values()) {
      if (href !== null) expect(['https:', 'http:', 'mailto:']).toContain(protocol);
      expect(kept).toEqual(['_blank', 'noopener noreferrer nofollow']);
    }
    expect(await page.evaluate('window.hit')).toBeUndefined();
    expect(trouble).toEqual([]);
    expect(canary.asked).toEqual([]);
    canary.close();
  });

  test('without a connection the app opens, says so, and keeps what was written', async () => {
    const data = desk.hub.data;
    const own = await openDesk({ settings: {} });
    expect(own.hub.data).not.toBe(data);
    const agent = own.agent('near');
    const { thread_id } = await agent.create_thread({ title: 'Before the storm', participants: [PERSON] });
    await agent.post_message({ thread_id, schema_version: 1, body: 'Still here.' });
    const page = await own.signedIn('tablet', { serviceWorkers: 'allow' });
    await page.evaluate('navigator.serviceWorker.ready');
    await page.reload();
    await page.goto(`${own.hub.url}/t/${thread_id}`);
    await page.locator('.message', { hasText: 'Still here.' }).waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('Half a thought');
    await own.hub.stop();
    await page.getByText('No connection to the hub.').waitFor();
    await page.reload();
    await page.waitForURL(`${own.hub.url}/t/${thread_id}`);
    expect(await page.evaluate(`localStorage.getItem('draft:${thread_id}')`)).toBe('Half a thought');
    expect(await page.locator('#app > *').count()).toBe(1);
    await own.close().catch(() => {});
  });

  test('after the hub was away, the page goes on where it was and misses nothing', async () => {
    const first = await openDesk();
    const { data } = first.hub;
    const port = new URL(first.hub.url).port;
    const agent = first.agent('steady');
    const { thread_id } = await agent.create_thread({ title: 'Over a restart', participants: [PERSON] });
    await agent.post_message({ thread_id, schema_version: 1, body: 'Before.' });
    const page = await first.signedIn('desktop');
    await page.goto(`${first.hub.url}/t/${thread_id}`);
    await page.locator('.message', { hasText: 'Before.' }).waitFor();
    await first.hub.kill();
    await page.getByText('No connection to the hub.').waitFor();
    const second = await openDesk({ data, flags: ['--port', port], signer: first.signer });
    await agent.post_message({ thread_id, schema_version: 1, body: 'While it was away.' });
    await page.locator('.message', { hasText: 'While it was away.' }).waitFor();
    await page.getByText('No connection to the hub.').waitFor({ state: 'detached' });
    await first.close().catch(() => {});
    await second.close();
  });
});
