import { chromium, type Page, type Request } from 'playwright-core';

import { requireTool } from '../tests/tools/tools.ts';
import { freshFolder, type HubProcess, removeFolder, startHub } from './hub-process.ts';
import { fill } from './million.ts';
import { preparePosts } from './posts.ts';
import { hold, line } from './report.ts';

const BURST = 500;
const PATIENCE_MS = 120_000;
const LOOK_MS = 1_000;

/** A long thread in a real browser: what opening and scrolling it asks of the hub, and how soon a burst of messages is seen. */
export async function benchDashboard(): Promise<void> {
  const wanted = Number(process.env['BENCH_MESSAGES'] ?? 100_000);
  const data = freshFolder();
  const hub = await startHub(data);
  const browser = await chromium.launch({
    executablePath: requireTool('chromium'),
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
  });
  try {
    const { head, token, threads } = await preparePosts(hub);
    const [long = '', short = ''] = threads;
    await fill(hub, head, long, wanted);
    const page = await browser.newPage({ viewport: { width: 834, height: 1194 }, bypassCSP: true });
    page.setDefaultTimeout(PATIENCE_MS);
    const operator = hub.token('kim', 'operator');
    const { key } = await hub.call<{ key: string }>(operator, 'pair_device', {});
    await page.goto(`${hub.url}/#k=${key}`);
    await page.locator('.line-sign.line-live').waitFor();
    // The code of the page is loaded before: what is measured is the thread.
    await page.goto(`${hub.url}/t/${short}`);
    await page.locator('[data-seq]').first().waitFor();
    await hub.call(operator, 'ack_read', { thread_id: long, last_read_seq: await lastSeq(hub, token, long) });
    await page.goto(`${hub.url}/threads`);
    await scroll(hub, page, token, long);
    await burst(hub, page, token, long);
  } finally {
    await browser.close();
    await hub.stop();
    removeFolder(data);
  }
}

async function scroll(hub: HubProcess, page: Page, token: string, thread: string): Promise<void> {
  const last = await lastSeq(hub, token, thread);
  const opened = await measured(page, thread, async () => {
    await page.locator(`a[href="/t/${thread}"]`).first().click();
    await row(page, last);
  });
  hold('dashboard.requests', opened.pages, { what: `open a thread of ${last}`, figure: reported(opened) });
  const box = '.message-scroll';
  // Somebody looks before they scroll.
  await page.waitForTimeout(LOOK_MS);
  const middle = await measured(page, thread, async () => {
    await page.evaluate(
      `(() => { const box = document.querySelector('${box}'); box.scrollTop = box.scrollHeight / 2; })()`,
    );
    await page.waitForFunction(`(() => {
      const box = document.querySelector('${box}').getBoundingClientRect();
      const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2)?.closest('[data-seq]');
      return at !== null && at !== undefined && Number(at.dataset.seq) < ${last * 0.75} && at.textContent.trim() !== '';
    })()`);
  });
  line('scroll to its middle', reported(middle));
  const end = await measured(page, thread, async () => {
    await page.evaluate(
      `(() => { const box = document.querySelector('${box}'); box.scrollTop = box.scrollHeight; })()`,
    );
    await row(page, last);
  });
  line('scroll to its end', reported(end));
  line('rows in the document', String(await page.locator('[data-seq]').count()));
}

async function burst(hub: HubProcess, page: Page, token: string, thread: string): Promise<void> {
  const before = await lastSeq(hub, token, thread);
  const posts = Array.from({ length: BURST }, (_, i) =>
    hub.call(token, 'post_message', { thread_id: thread, schema_version: 1, body: `burst ${i}` }),
  );
  const shown = row(page, before + BURST).then(() => performance.now());
  await Promise.all(posts);
  const committed = performance.now();
  const ms = Math.max(0, (await shown) - committed);
  hold('dashboard.burst', ms, { what: `a burst of ${BURST} messages` });
}

interface Measured {
  ms: number;
  pages: number;
  requests: number;
}

/** How long it took, what the thread's own entries cost in requests, and what was asked in all. */
async function measured(page: Page, thread: string, run: () => Promise<void>): Promise<Measured> {
  const asked: string[] = [];
  const note = (request: Request): void => void asked.push(new URL(request.url()).pathname);
  page.on('request', note);
  const started = performance.now();
  await run();
  const ms = performance.now() - started;
  page.off('request', note);
  const pages = asked.filter((path) => path === `/v1/threads/${thread}/events`).length;
  return { ms, pages, requests: asked.filter((path) => path.startsWith('/v1/')).length };
}

function reported({ ms, pages, requests }: Measured): string {
  return `${ms.toFixed(0)} ms, ${pages} for its entries of ${requests} requests`;
}

function row(page: Page, seq: number): Promise<unknown> {
  return page.locator(`[data-seq="${seq}"]`).waitFor();
}

async function lastSeq(hub: HubProcess, token: string, thread_id: string): Promise<number> {
  return (await hub.call<{ last_seq: number }>(token, 'get_thread', { thread_id })).last_seq;
}
