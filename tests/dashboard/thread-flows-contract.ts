import { randomUUID } from 'node:crypto';

import { expect, test, vi } from 'vitest';

import { type Desk, PATIENCE_MS, PERSON, press } from './desk.ts';
import { bodies, say, scene, type Seat } from './scene.ts';
import { visit } from './visit.ts';

/** Threads and documents are read and written: flows 8 to 10. */
export function threadFlows(desk: () => Desk, seats: readonly Seat[]): void {
  const rows = seats.map((seat) => [seat.on, seat] as const);

  test.each(rows)(
    'flow 8 on a %s: a thread is read live and answered; the draft survives, the message is posted once',
    async (_, { page: open, name, screen }) => {
      const page = await open();
      const { agent, thread_id, title } = await scene(desk(), `talker-${name}`);
      await say(agent, thread_id, 'The first word.');
      await visit(page, `${desk().hub.url}/now`);
      const row = page.locator('.thread-row', { hasText: title });
      await row.getByText('The first word.').waitFor();
      await press(row, screen);
      await page.locator('.message', { hasText: 'The first word.' }).waitFor();
      await say(agent, thread_id, 'Said **while** you look.');
      await page.locator('.message strong', { hasText: 'while' }).waitFor();
      const field = page.getByRole('textbox', { name: 'Message' });
      await field.fill('A draft');
      await page.reload();
      await page.locator('.message').first().waitFor();
      expect(await field.inputValue()).toBe('A draft');
      await field.fill('Thank you @ta');
      await press(page.getByRole('option', { name: `talker-${name}` }), screen);
      expect(await field.inputValue()).toBe(`Thank you @talker-${name} `);
      await press(page.getByRole('button', { name: 'Send' }), screen);
      await page
        .locator('.message:not(.message-pending)', { hasText: `Thank you @talker-${name}` })
        .waitFor();
      await vi.waitFor(
        async () => expect((await bodies(agent, thread_id)).at(-1)).toBe(`Thank you @talker-${name}`),
        PATIENCE_MS,
      );
      expect((await bodies(agent, thread_id)).filter((body) => body.startsWith('Thank you'))).toHaveLength(1);
      // What was read is read on every device.
      await vi.waitFor(async () => {
        const { threads } = await desk().agent(PERSON, 'operator').list_threads({ unread: true });
        expect(threads.map((thread) => thread.thread_id)).not.toContain(thread_id);
      }, PATIENCE_MS);
    },
  );

  test.each(rows)(
    'flow 9 on a %s: the tree opens level by level, a document leads to others, a change by somebody else appears, and it is changed here',
    async (_, { page: open, name, screen }) => {
      const page = await open();
      const editor = desk().agent('editor', 'orchestrator');
      const write = async (title: string, body: string, parent_id = 'root'): Promise<string> => {
        const document_id = randomUUID();
        const content = { mime_type: 'text/markdown', body } as const;
        await editor.create_document({ document_id, parent_id, content, metadata: { title } });
        return document_id;
      };
      const top = await write(`Guide ${name}`, `Read [[Setup ${name}]] first.`);
      const child = await write(`Setup ${name}`, '# Install\n\nRun `npm ci`.', top);
      await visit(page, `${desk().hub.url}/know`);
      await press(page.getByRole('button', { name: `What is below Guide ${name}` }), screen);
      await press(page.getByRole('link', { name: `Setup ${name}` }), screen);
      await page.getByRole('heading', { name: 'Install' }).waitFor();
      await press(page.locator('.doc-side').getByRole('link', { name: `Guide ${name}` }), screen);
      await press(page.locator('.doc-body').getByRole('link', { name: `Setup ${name}` }), screen);
      await page.getByText('revision 1').first().waitFor();
      await editor.update_document({
        document_id: child,
        patch: { content: { body: '# Install\n\nRun `npm ci` *twice*.' } },
        update_mask: ['content.body'],
      });
      await page.getByText('revision 2').first().waitFor();
      await page.locator('.doc-body em', { hasText: 'twice' }).waitFor();
      await press(page.getByRole('link', { name: 'Edit' }), screen);
      await page.getByLabel(/^Text/).fill('Run it once.');
      await press(page.getByRole('button', { name: 'Save' }), screen);
      await page.getByText('revision 3').first().waitFor();
      expect((await editor.get_document({ document_id: child })).document.content.body).toBe('Run it once.');
    },
  );

  test.each(rows)(
    'flow 10 on a %s: an agent is invited, a side channel opened, and the thread resolved',
    async (_, { page: open, name, screen }) => {
      const page = await open();
      const { agent, thread_id, title } = await scene(desk(), `owner-${name}`);
      await scene(desk(), `newcomer-${name}`);
      await say(agent, thread_id, 'Let us begin.');
      await visit(page, `${desk().hub.url}/t/${thread_id}`);
      const panel = page.locator(screen === 'desktop' ? '.thread-side' : 'dialog');
      if (screen !== 'desktop')
        await press(page.getByRole('button', { name: /participants: show them/ }), screen);
      await panel.getByLabel('Invite').fill(`newcomer-${name}`);
      await press(panel.getByRole('button', { name: 'Invite' }), screen);
      await page.getByText(`You invited newcomer-${name}`).waitFor();
      await press(panel.getByRole('button', { name: 'Open one' }), screen);
      await page.getByLabel('What it is about').fill('The fine print');
      await press(page.locator('.pick', { hasText: `newcomer-${name}` }), screen);
      await press(page.getByRole('button', { name: 'Open the side channel' }), screen);
      await page.getByRole('heading', { name: 'The fine print', level: 1 }).waitFor();
      await press(page.getByRole('link', { name: `side channel of ${title}` }), screen);
      // Both threads have a button of that name.
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
      await press(page.getByRole('button', { name: 'More about this thread' }), screen);
      await press(page.getByRole('button', { name: /^Resolve/ }), screen);
      await vi.waitFor(
        async () =>
          expect(await agent.get_thread({ thread_id })).toMatchObject({
            status: 'resolved',
            participants: expect.arrayContaining([`newcomer-${name}`]),
          }),
        PATIENCE_MS,
      );
    },
  );
}
