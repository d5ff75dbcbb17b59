import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { bareEnvironment, freshPath, startHub } from '../cli/parley.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The shell blocks of a document from a heading on to the next second-level one where it is such, as one script. */
function scriptOf(path: string, heading: string): string {
  const rest = readFileSync(join(root, path), 'utf8').split(heading)[1] ?? '';
  const text = heading.startsWith('## ') ? (rest.split(/^## /m)[0] ?? '') : rest;
  return [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block).join('\n');
}

/** Pastes a script into a shell in the clone, beside a hub that a newcomer has just started. */
async function paste(script: string): Promise<{ code: number; output: string }> {
  const home = freshPath('.');
  const hub = await startHub(join(home, '.local/share/parley'));
  const text = script.replaceAll('http://127.0.0.1:8620', hub.url);
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', text], {
    cwd: root,
    env: bareEnvironment({ HOME: home }),
  });
  let output = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => (output += piece));
  const [code] = (await once(shell, 'close')) as [number];
  await hub.stop();
  return { code, output };
}

test('the first thread of the README works as it is pasted', { timeout: 240_000 }, async () => {
  const { code, output } = await paste(scriptOf('README.md', '## A first thread in a minute'));
  expect(code, output).toBe(0);
  expect(output).toContain('resolved, nothing is open');
  expect(output).toContain(
    '[finding_reported high user_mapper.dart]  A user without a nickname becomes null',
  );
  expect(output).toContain('read      by bob');
  expect(output).toContain('“Mapper review” (conversation) is active; 2 messages read of 2.');
  expect(output).toContain('"title":"Mapper review"');
});

test('the calls on the page of the HTTP face work as they are pasted', { timeout: 120_000 }, async () => {
  const { code, output } = await paste(scriptOf('docs/faces/http.md', '# HTTP face'));
  expect(code, output).toBe(0);
  expect(output).toMatch(/"thread_id":"th_/);
  expect(output).toContain('"seq":1,"thread_status":"active"');
  expect(output).toContain(': stream\n\nid: 1\nevent: message\ndata: {"message_id"');
});

test('the calls on the page of the events face work as they are pasted', { timeout: 120_000 }, async () => {
  const { code, output } = await paste(scriptOf('docs/faces/events.md', '# Thread events face'));
  expect(code, output).toBe(0);
  expect(output).toContain('"type":"message","from":"user","to":"alice","content":"Hello, alice."');
  expect(output).toContain('"invokes":["alice"]');
  expect(output).toContain('"next_seq":1,"has_more":false}');
  expect(output).toContain(': stream\n\nid: 0\ndata: {"id":');
  expect(output).toContain('event: hello\ndata: {"pos":0}\n\nid: 1\ndata: {"pos":1,"event":{');
});

test('the first document and the first envelope work as they are pasted', { timeout: 240_000 }, async () => {
  const document = await paste(scriptOf('docs/knowledge.md', '## A first document'));
  expect(document.code, document.output).toBe(0);
  expect(document.output).toContain('First run `npm ci`.');
  const envelope = await paste(scriptOf('docs/faces/envelope.md', '## A first envelope'));
  expect(envelope.code, envelope.output).toBe(0);
  expect(envelope.output).toContain(
    '{"ok":true,"data":{"id":"5b0c8a52-9f6e-4a55-b7a2-1d1f0c7b8a03","revision":1,"web_uri":',
  );
});

test('the commands on the page of artifacts work as they are pasted', { timeout: 120_000 }, async () => {
  const { code, output } = await paste(scriptOf('docs/artifacts.md', '## A first artifact'));
  expect(code, output).toBe(0);
  expect(output).toMatch(/^art_\w+ {2}8 bytes {2}report.csv$/m);
  expect(output).toContain('a,b\n1,2\na,b\n1,2\n');
  expect(output).toContain('"name":"notes.txt","mime_type":"text/plain","bytes":10');
});

test('the commands on the page of the queue work as they are pasted', { timeout: 120_000 }, async () => {
  const { code, output } = await paste(scriptOf('docs/queue.md', '## A first delivery'));
  expect(code, output).toBe(0);
  expect(output).toMatch(/"delivery_id":"dlv_\w+","status":"waiting"/);
  expect(output).toContain('knowledge.create_document');
});
