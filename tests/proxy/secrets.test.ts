import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { allFilesOf, type Canary, canaries, leaked } from '../harness/canaries.ts';
import { until } from './proxy-client.ts';
import { makeTeam } from './team.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

const textOf = (given: readonly Canary[]): string => given.map(({ text }) => text).join('\n');

test('no secret is kept: not in the log at trace, the audit, the registry, a summary', async () => {
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
    const cut = line.indexOf(secret) + Math.floor(secret.length / 2);
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
