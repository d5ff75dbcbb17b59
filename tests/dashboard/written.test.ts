import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';

import type { Client } from '@parley/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';

import { runCli } from '../harness/run-cli.ts';
import { describeWith } from '../tools/describe-with.ts';
import { allowForBrowsers, type Desk, openDesk, PATIENCE_MS, PERSON, press } from './desk.ts';
import { ENDS, openPages } from './open-pages.ts';

allowForBrowsers();

const DIFF = `diff --git a/src/mapper.ts b/src/mapper.ts
index 1234567..89abcde 100644
--- a/src/mapper.ts
+++ b/src/mapper.ts
@@ -10,3 +10,3 @@ function map() {
 const a = 1;
-const b = 2;
+const b = 3;
 return a;`;

const WRITTEN = `Steps **before** the release:

3. build
4. test

- [x] write
- [ ] ship

| name | count |
| :--- | ----: |
| one  |     1 |

مرحبا بالعالم

\`\`\`ts
// the answer
const answer = 'forty-two'; // ${'long '.repeat(60)}
\`\`\`

${DIFF}

Is it right?`;

/** What is asked of a thing on the page. */
interface Shown {
  scrollWidth: number;
  clientWidth: number;
  naturalWidth: number;
  ownerDocument: { defaultView: { getComputedStyle: (one: unknown) => Record<string, string> } };
}

const styleOf = (one: Shown, name: string): string | undefined =>
  one.ownerDocument.defaultView.getComputedStyle(one)[name];

describeWith(['chromium'], 'what was written is what is shown', () => {
  let desk: Desk;
  let agent: Client;
  let pages: Record<(typeof ENDS)[number], Page>;
  const faults: string[] = [];
  beforeAll(async () => {
    desk = await openDesk();
    agent = desk.agent('mapper');
    await agent.register_agent({ name: 'mapper' });
    pages = await openPages(desk, ENDS);
    for (const screen of ENDS) {
      pages[screen].on('console', (message) => {
        if (message.type() === 'error') faults.push(message.text());
      });
      pages[screen].on('pageerror', (error) => faults.push(error.message));
    }
  });
  afterAll(async () => {
    await desk.close();
  });

  const begin = async (body?: string): Promise<string> => {
    const { thread_id } = await agent.create_thread({ title: 'As written', participants: [PERSON] });
    if (body !== undefined) await agent.post_message({ thread_id, schema_version: 1, body });
    return thread_id;
  };
  const bodies = async (thread_id: string): Promise<string[]> =>
    (await agent.read_messages({ thread_id })).messages.map(({ body }) => body);

  test.each(ENDS)('on a %s lists, tasks, tables, directions and code keep what they say', async (screen) => {
    const page = pages[screen];
    const thread_id = await begin(WRITTEN);
    await page.goto(`${desk.hub.url}/t/${thread_id}/1`);
    const message = page.locator('.message').last();
    await message.locator('ol').waitFor();
    expect(await message.locator('ol').getAttribute('start')).toBe('3');
    const boxes = message.locator('input[type=checkbox]');
    expect([await boxes.nth(0).isChecked(), await boxes.nth(1).isChecked()]).toEqual([true, false]);
    expect(await boxes.nth(0).isDisabled()).toBe(true);
    expect(await boxes.nth(1).getAttribute('aria-label')).toBe('To do');
    expect(await message.locator('td').nth(1).evaluate(styleOf, 'textAlign')).toBe('right');
    const turned = message.locator('p', { hasText: 'مرحبا' });
    expect(await turned.evaluate(styleOf, 'direction')).toBe('rtl');
    expect(await message.locator('p', { hasText: 'Steps' }).evaluate(styleOf, 'direction')).toBe('ltr');
    await message.locator('.code-keyword', { hasText: 'const' }).first().waitFor();
    expect(await message.locator('.code-comment').first().innerText()).toBe('// the answer');
    expect(await message.locator('.code-string').innerText()).toBe("'forty-two'");
    const pre = message.locator('.code-box pre');
    const wide = () => pre.evaluate((one: Shown) => one.scrollWidth > one.clientWidth);
    expect(await wide()).toBe(true);
    await press(message.getByRole('button', { name: 'Wrap' }), screen);
    expect(await wide()).toBe(false);
    await press(message.getByRole('button', { name: 'Copy' }), screen);
    await page.locator('.toast').first().waitFor();
    // The lists show words, not marks.
    await page.goto(`${desk.hub.url}/threads`);
    const line = page.locator('.page .thread-row', { hasText: 'Steps before the release' }).first();
    await line.waitFor();
    expect(await line.innerText()).not.toMatch(/\*\*|```|\[x\]/);
  });

  test('a list shows words alone, of what comes while somebody looks as of what was there before', async () => {
    const page = pages.desktop;
    const marks = '## Head\n\n- a **b**\n- `__c__`\n\n> so\n\n| d | e |\n| :-- | -: |\n| 1 | 2 |';
    const words = 'Head a b __c__ so d e 1 2';
    const thread_id = await begin(`Before it\n\n${marks}`);
    await page.goto(`${desk.hub.url}/threads`);
    const row = page.locator(`.page [data-thread="${thread_id}"]`);
    await row.getByText(`Before it ${words}`).waitFor();
    await agent.post_message({ thread_id, schema_version: 1, body: `After it\n\n${marks}` });
    await row.getByText(`After it ${words}`).waitFor();
    const { summary } = await agent.summarize_thread({ thread_id });
    expect(summary).toContain(`After it ${words}`);
  });

  test('a result that is data is shown as the data, on the page and in the list', async () => {
    const page = pages.desktop;
    const thread_id = await begin('Off we go.');
    const task = await agent.assign_task({ thread_id, to: PERSON, body: 'Count them.' });
    const output = { failed: 0, names: ['one'] };
    await agent.report_result({ thread_id, task: task.message_id, to: PERSON, output });
    await page.goto(`${desk.hub.url}/threads`);
    const row = page.locator(`.page [data-thread="${thread_id}"]`);
    await row.getByText(/"failed": ?0, ?"names": ?\[ ?"one" ?\]/).waitFor();
    await row.click();
    const shown = page.locator('.message', { hasText: 'Result' }).locator('pre');
    await shown.waitFor();
    expect(JSON.parse(await shown.innerText())).toEqual(output);
  });

  test('what stands below a change is no part of it, and a change needs neither git nor a file', async () => {
    const page = pages.phone;
    const thread_id = await begin(
      `${DIFF}\n\n- why three?\n- and why now?\n\n--- old.ts\tyesterday\n+++ new.ts\ttoday\n@@ -1 +1 @@\n-a\n+b\n\nor\n\n@@ -7 +7 @@\n-c\n+d`,
    );
    await page.goto(`${desk.hub.url}/t/${thread_id}/1`);
    const message = page.locator('.message').last();
    await message.locator('.change').nth(2).waitFor();
    expect(await message.locator('.change-count').allInnerTexts()).toEqual(['+1 −1', '+1 −1', '+1 −1']);
    expect(await message.locator('.prose li').allInnerTexts()).toEqual(['why three?', 'and why now?']);
    await message.getByRole('region', { name: 'Changes of new.ts' }).waitFor();
  });

  test.each(ENDS)(
    'on a %s an unfenced diff is shown as one, and a comment on it comes back',
    async (screen) => {
      const page = pages[screen];
      const thread_id = await begin(WRITTEN);
      await page.goto(`${desk.hub.url}/t/${thread_id}/1`);
      const change = page.getByRole('region', { name: 'Changes of src/mapper.ts' });
      await change.waitFor();
      expect(await change.locator('.change-line-new').innerText()).toContain('const b = 3;');
      expect(await change.locator('.change-head').innerText()).toMatch(/\+1\s*−1/);
      await press(change.getByRole('button', { name: 'Comment on new line 11' }), screen);
      await change.getByRole('textbox', { name: 'Comment on this line' }).fill('Why three?');
      await press(change.getByRole('button', { name: 'Comment', exact: true }), screen);
      await vi.waitFor(async () => {
        const last = (await bodies(thread_id)).at(-1);
        expect(last).toContain('`src/mapper.ts:11`');
        expect(last).toContain('+const b = 3;');
        expect(last).toContain('Why three?');
      }, PATIENCE_MS);
      const { messages } = await agent.read_messages({ thread_id });
      expect(messages.at(-1)?.in_reply_to).toBe(messages[0]?.message_id);
    },
  );

  test.each(ENDS)('on a %s a picture is added by paste, drop and choice, and is shown', async (screen) => {
    const page = pages[screen];
    const thread_id = await begin('Show me.');
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    const field = page.getByRole('textbox', { name: 'Message' });
    await field.waitFor();
    const bytes = [...square()];
    const give = (how: 'paste' | 'drop'): Promise<unknown> =>
      page.evaluate(`(() => {
        const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(${JSON.stringify(bytes)})], '${how}.png', { type: 'image/png' }));
        const event = '${how}' === 'paste'
          ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
          : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
        document.querySelector('${how}' === 'paste' ? '[data-composer]' : '.message-scroll').dispatchEvent(event);
      })()`);
    await field.fill('Two of them:');
    await give('paste');
    await vi.waitFor(
      async () => expect(await field.inputValue()).toContain('![paste.png](artifact:'),
      PATIENCE_MS,
    );
    await give('drop');
    await vi.waitFor(
      async () => expect(await field.inputValue()).toContain('![drop.png](artifact:'),
      PATIENCE_MS,
    );
    await page
      .locator('.attach input')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('some notes') });
    await vi.waitFor(
      async () => expect(await field.inputValue()).toContain('[notes.txt](artifact:'),
      PATIENCE_MS,
    );
    await press(page.getByRole('button', { name: 'Send' }), screen);
    const sent = page.locator('.message:not(.message-pending)', { hasText: 'Two of them:' });
    await vi.waitFor(async () => {
      const drawn = await sent
        .locator('img')
        .evaluateAll((all: Shown[]) => all.map((one) => one.naturalWidth));
      expect(drawn).toEqual([4, 4]);
    }, PATIENCE_MS);
    await sent.getByText('notes.txt · 10 B').waitFor();
  });

  test('what is copied with its words is pasted as words, and what the hub does not take is told so', async () => {
    const page = pages.desktop;
    await page.goto(`${desk.hub.url}/t/${await begin('Show me.')}`);
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    const isLeftToBrowser = await page.evaluate(`(() => {
      const data = new DataTransfer();
      data.items.add(new File([new Uint8Array(${JSON.stringify([...square()])})], 'cells.png', { type: 'image/png' }));
      data.setData('text/plain', 'one');
      data.setData('text/html', '<table><tr><td>one</table>');
      const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
      return document.querySelector('[data-composer]').dispatchEvent(event);
    })()`);
    expect(isLeftToBrowser).toBe(true);
    const refused = faults.length;
    await page
      .locator('.attach input')
      .setInputFiles({ name: 'setup.run', mimeType: 'application/x-msdownload', buffer: Buffer.from('MZ') });
    await page.getByText(/^setup\.run was not added: it is none of plain, markdown, csv, /).waitFor();
    await page
      .locator('.attach input')
      .setInputFiles({ name: 'no.png', mimeType: 'image/png', buffer: Buffer.from('none') });
    await page.getByText('no.png was not added: the bytes are no image/png').waitFor();
    // The browser itself notes each refusal.
    for (const fault of faults.splice(refused)) expect(fault).toContain('422');
  });

  test('a picture is added from the command line', async () => {
    const page = pages.desktop;
    const thread_id = await begin();
    const file = join(mkdtempSync(join(tmpdir(), 'parley-picture-')), 'screen.png');
    writeFileSync(file, square());
    const token = desk.signer.token({
      agent: 'mapper',
      workspace: 'w1',
      role: 'worker',
      session: 'cli-picture',
    });
    const { code, stderr } = await runCli(['post', thread_id, 'From a terminal.', '--attach', file], {
      data: desk.hub.data,
      env: { PARLEY_URL: desk.hub.url, PARLEY_TOKEN: token },
    });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    await page.goto(`${desk.hub.url}/t/${thread_id}`);
    await vi.waitFor(async () => {
      const drawn = await page
        .locator('.message img')
        .evaluateAll((all: Shown[]) => all.map((one) => one.naturalWidth));
      expect(drawn).toEqual([4]);
    }, PATIENCE_MS);
  });

  test.each(ENDS)('on a %s a document can be looked at before it is saved', async (screen) => {
    const page = pages[screen];
    await page.goto(`${desk.hub.url}/know/new`);
    await page.getByLabel('Title', { exact: true }).fill('A plan');
    await page.getByLabel(/^Text, in Markdown/).fill('## Steps\n\n5. go on\n\n```sh\n# first\n```');
    await press(page.getByRole('button', { name: 'Preview' }), screen);
    const shown = page.getByRole('region', { name: 'Preview of A plan' });
    expect(await shown.locator('ol').getAttribute('start')).toBe('5');
    await shown.locator('.code-comment').waitFor();
    await press(page.getByRole('button', { name: 'Write' }), screen);
    expect(await page.getByLabel(/^Text, in Markdown/).inputValue()).toContain('5. go on');
    await press(page.getByRole('button', { name: 'Discard' }), screen);
  });

  test('the words of a wide table stay whole: it scrolls inside its box, not the page', async () => {
    const head = '| Transport | Resumes after a break | Works through a proxy | Who speaks it here |';
    const body = `${head}\n|---|---|---|---|\n| WebSocket connection | by the position that the client names itself | mostly | every supervised terminal |`;
    const thread_id = await begin(body);
    const { phone } = pages;
    await phone.goto(`${desk.hub.url}/t/${thread_id}`);
    await phone.locator('.prose table').waitFor();
    const [box, wide, whole] = await phone.evaluate<[boolean, boolean, boolean]>(`(() => {
      const table = document.querySelector('.prose table');
      const cell = table.querySelector('td');
      const word = document.createRange();
      word.setStart(cell.firstChild, 0);
      word.setEnd(cell.firstChild, 'WebSocket'.length);
      return [
        document.documentElement.scrollWidth <= document.documentElement.clientWidth,
        table.scrollWidth > table.clientWidth,
        word.getClientRects().length === 1,
      ];
    })()`);
    expect({ box, wide, whole }).toEqual({ box: true, wide: true, whole: true });
  });

  test('nothing of it was an error to the browser', () => {
    expect(faults).toEqual([]);
  });
});

/** A picture of four by four points. */
function square(): Buffer {
  const chunk = (name: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const whole = Buffer.alloc(body.length + 8);
    whole.writeUInt32BE(data.length);
    body.copy(whole, 4);
    whole.writeUInt32BE(crc32(body), body.length + 4);
    return whole;
  };
  const head = Buffer.from([0, 0, 0, 4, 0, 0, 0, 4, 8, 2, 0, 0, 0]);
  const rows = Buffer.alloc(4 * 13, 0x80);
  for (let i = 0; i < 4; i++) rows[i * 13] = 0;
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
