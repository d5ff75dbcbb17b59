import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { allFilesOf, type Canary, canaries, leaked } from '../harness/canaries.ts';
import { PROGRAM, until } from './proxy-client.ts';
import { makeTeam } from './team.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

const textOf = (given: readonly Canary[]): string => given.map(({ text }) => text).join('\n');

test('[NFR-3] no secret is kept: not in the log at trace, the audit, the registry, a summary', async () => {
  const team = makeTeam(place(), 'default', ['alice']);
  const known: Canary[] = [];
  const some = (): Canary[] => {
    const made = canaries();
    known.push(...made);
    return made;
  };
  const proxy = await start({
    args: ['--set', 'log_level=trace', '--set', 'max_concurrent_threads=50'],
    env: { SCRIPT_SUMMARY: textOf(some()) },
  });

  // As what a session is told, says and is called.
  const { agent_id } = (await proxy.call('codex', { prompt: `say ${textOf(some())}\n${textOf(some())}` }))
    .structuredContent;
  for (const { text } of some()) await proxy.call('codex-reply', { agent_id, prompt: `say ${text}` });
  // Where the audit cuts a prompt, after 200 characters, half a key is none that could be known.
  for (const { text, secret } of canaries()) {
    const half = secret.slice(0, 12);
    known.push({ text: `${text}, cut`, secret: half });
    const before = `say ${'x'.repeat(195 - text.indexOf(secret) - half.length)}`;
    await proxy.call('codex-reply', { agent_id, prompt: `${before} ${text}` });
  }
  for (const [n, { text }] of some().entries())
    await proxy.call('codex', {
      prompt: 'say hi',
      identity: `i${n}`,
      tag: text.slice(0, 200),
      auto_mail: false,
    });
  const { sessions } = (await proxy.call('agent_sessions')).structuredContent as unknown as {
    sessions: { agent_id: string }[];
  };

  // As what is said of mail, and in it.
  for (const { text } of some())
    await proxy
      .call('atm_send', { identity: 'codex', to: text, message: text, summary: text })
      .catch(() => undefined);
  await proxy.call('atm_read', { identity: 'codex', from: textOf(some()) });
  team.deliver('codex', { text: textOf(some()), from: 'alice', summary: textOf(some()).slice(0, 100) });
  await until(() => team.unread('codex').length === 0);

  // As what is no call at all, and as what is refused.
  for (const { text } of some()) {
    proxy.process.stdin.write(`{"broken": ${JSON.stringify(text)}\n`);
    proxy.send({ id: `x ${text}`, method: text, params: { [text]: text } });
    await proxy.call('no_such_tool', { text }).catch(() => undefined);
    await proxy.call('codex', { agent_file: `/nowhere/${text}` }).catch(() => undefined);
  }
  // Cut in two by the reads, wherever the cut falls.
  for (const { text, secret } of some()) {
    const line = `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x', params: { text } })}\n`;
    const half = Math.floor(secret.length / 2);
    for (const part of [secret.slice(0, half), secret.slice(half)])
      known.push({ text: `half of ${text}`, secret: part });
    const cut = line.indexOf(secret) + half;
    proxy.process.stdin.write(line.slice(0, cut));
    await sleep(30);
    proxy.process.stdin.write(line.slice(cut));
    await sleep(10);
  }
  await proxy.request('ping');

  for (const session of sessions) await proxy.call('agent_close', { agent_id: session.agent_id });
  await proxy.end();
  const atm = join(place().home, '.config', 'atm');
  const kept = join(atm, 'agent-sessions', 'default');
  const logged = proxy.stderr();
  expect(logged.match(/from the client/g)?.length).toBeGreaterThan(100);
  expect(leaked(logged, known)).toEqual([]);
  expect(readFileSync(join(kept, 'audit.jsonl'), 'utf8').split('\n').length).toBeGreaterThan(60);
  expect(existsSync(join(kept, 'codex', 'registry.json'))).toBe(true);
  const files = allFilesOf(atm, [join(atm, 'mail')]);
  expect(files.match(/\[redacted\]/g)?.length).toBeGreaterThan(100);
  expect(leaked(files, known)).toEqual([]);
  // What people wrote to each other is theirs.
  expect(leaked(allFilesOf(team.folder), known).length).toBeGreaterThan(0);
  // Each line is one JSON object all the same.
  for (const line of [logged, readFileSync(join(kept, 'audit.jsonl'), 'utf8')].join('').trim().split('\n'))
    expect(JSON.parse(line)).toBeTypeOf('object');
}, 120_000);

test('[NFR-3] a summary that was not written by this program is shown and put before a turn without secrets too', async () => {
  const [one, two] = [canaries(), canaries()];
  const proxy = await start();
  const { agent_id, threadId } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
  await proxy.call('agent_close', { agent_id });
  await proxy.end();
  const summary = (thread: string): string =>
    join(place().home, '.config/atm/agent-sessions/default/codex', thread, 'summary.md');
  writeFileSync(summary(threadId), `as it was: ${textOf(one)}\u202e\n`);

  const again = await start();
  const closed = await again.call('agent_close', { agent_id });
  expect(closed.structuredContent['summary']).toContain('as it was: ');
  expect(leaked(JSON.stringify(closed), one)).toEqual([]);
  const resumed = await again.call('codex', { agent_id, prompt: 'echo' });
  const given = JSON.stringify(again.received().at(-1));
  expect(given).toContain('as it was: ');
  expect(given).toContain('\\\\u{202e}');
  expect(leaked(given, one)).toEqual([]);
  await again.call('agent_close', { agent_id });
  await again.end();

  writeFileSync(summary(resumed.structuredContent.threadId), `and now: ${textOf(two)}\n`);
  const env = { PATH: process.env['PATH'], HOME: place().home, ATM_HOME: place().home };
  const shown = execFileSync(process.execPath, [PROGRAM, 'summary', agent_id], { env, encoding: 'utf8' });
  expect(shown).toContain('and now: ');
  expect(leaked(shown, two)).toEqual([]);
});
