import { afterAll, beforeAll, expect, test } from 'vitest';

import { blocksOf, ROOT, scriptOf } from './page.ts';
import { holdsShown, type Newcomer, openNewcomer } from './paste.ts';

/** One hub for the pages that do not mind others. */
let newcomer: Newcomer;
beforeAll(async () => {
  newcomer = await openNewcomer();
});
afterAll(() => newcomer.hub.stop());

const paste = (script: string) => newcomer.paste(script, { cwd: ROOT });

/** Beside a hub that nobody has used: what the page shows counts from the beginning. */
async function pasteAlone(script: string): Promise<{ code: number; output: string }> {
  const alone = await openNewcomer();
  const pasted = await alone.paste(script, { cwd: ROOT });
  await alone.hub.stop();
  return pasted;
}

test('the first thread of the README works as it is pasted', { timeout: 240_000 }, async () => {
  // What the first page of the dashboard is made of afterwards: asks that wait, threads that are unread.
  const look = './parley ask ls --json; ./parley thread ls --unread --json';
  const parts = ['## A first thread in a minute', '## Where to go on'].map((part) =>
    scriptOf('README.md', part),
  );
  const { code, output } = await pasteAlone([...parts, look].join('\n'));
  expect(code, output).toBe(0);
  expect(output).toContain('resolved, nothing is open');
  expect(output).toContain(
    '[finding_reported high user_mapper.dart]  A user without a nickname becomes null',
  );
  expect(output).toMatch(/^ {2}read +by bob/m);
  expect(output).toContain('“Mapper review” (conversation) is active; 2 messages read of 2.');
  expect(output).toContain('"title":"Mapper review"');
  expect(output).toMatch(/\{"asks":\[\{.*"agent_id":"reviewer_agent"/m);
  expect(output).toMatch(/\{"threads":\[.*"title":"Mapper review".*"title":"Profile mapper review loop"/m);
  holdsShown(output, blocksOf('README.md', '## A first thread in a minute'));
});

test('the calls on the page of the HTTP face work as they are pasted', { timeout: 120_000 }, async () => {
  const { code, output } = await paste(scriptOf('docs/faces/http.md'));
  expect(code, output).toBe(0);
  expect(output).toMatch(/"thread_id":"th_/);
  expect(output).toContain('"seq":1,"thread_status":"active"');
  expect(output).toContain(': stream\n\nid: 1\nevent: message\ndata: {"message_id"');
  holdsShown(output, blocksOf('docs/faces/http.md'));
});

test('the calls on the page of the events face work as they are pasted', { timeout: 120_000 }, async () => {
  const { code, output } = await pasteAlone(scriptOf('docs/faces/events.md'));
  expect(code, output).toBe(0);
  expect(output).toContain('"type":"message","from":"user","to":"alice","content":"Hello, alice."');
  expect(output).toContain('"invokes":["alice"]');
  expect(output).toContain('"next_seq":1,"has_more":false}');
  expect(output).toContain(': stream\n\nid: 0\ndata: {"id":');
  expect(output).toContain('event: hello\ndata: {"pos":0}\n\nid: w1\ndata: {"pos":1,"event":{');
  holdsShown(output, blocksOf('docs/faces/events.md'));
});

test('the first document and the first envelope work as they are pasted', { timeout: 240_000 }, async () => {
  const document = await paste(scriptOf('docs/knowledge.md', '## A first document'));
  expect(document.code, document.output).toBe(0);
  expect(document.output).toContain('First run `npm ci`.');
  holdsShown(document.output, blocksOf('docs/knowledge.md', '## A first document'));
  const envelope = await paste(scriptOf('docs/faces/envelope.md', '## A first envelope'));
  expect(envelope.code, envelope.output).toBe(0);
  expect(envelope.output).toContain(
    '{"ok":true,"data":{"id":"5b0c8a52-9f6e-4a55-b7a2-1d1f0c7b8a03","revision":1,"web_uri":',
  );
  holdsShown(envelope.output, blocksOf('docs/faces/envelope.md', '## A first envelope'));
});

test('the commands on the page of artifacts work as they are pasted', { timeout: 120_000 }, async () => {
  const { code, output } = await paste(scriptOf('docs/artifacts.md', '## A first artifact'));
  expect(code, output).toBe(0);
  expect(output).toMatch(/^art_\w+ {2}8 bytes {2}report.csv$/m);
  expect(output).toContain('a,b\n1,2\na,b\n1,2\n');
  expect(output).toContain('"name":"notes.txt","mime_type":"text/plain","bytes":10');
  holdsShown(output, blocksOf('docs/artifacts.md', '## A first artifact'));
});

test('the commands on the page of the queue work as they are pasted', { timeout: 120_000 }, async () => {
  const { code, output } = await paste(scriptOf('docs/queue.md', '## A first delivery'));
  expect(code, output).toBe(0);
  expect(output).toMatch(/"delivery_id":"dlv_\w+","status":"waiting"/);
  expect(output).toContain('knowledge.create_document');
  holdsShown(output, blocksOf('docs/queue.md', '## A first delivery'));
});
