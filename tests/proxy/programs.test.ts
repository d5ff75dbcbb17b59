import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { ResponsesRequest, ResponsesStep } from '@parley/runtimes';
import { expect, test } from 'vitest';

import { lastPrompt } from '../runtimes/scripted-agent.ts';
import { describeWith } from '../tools/describe-with.ts';
import { until } from './proxy-client.ts';
import { openRealScene } from './real-scene.ts';
import { makeTeam } from './team.ts';

/** The programs that docs/atm-agent-mcp.md names, each with what it is given; `…` stands for anything. */
function documented(): { program: string; args: string[] }[] {
  const text = readFileSync(new URL('../../docs/atm-agent-mcp.md', import.meta.url), 'utf8');
  const table = /^## Programs$([^]*?)^## /m.exec(text)?.[1] ?? '';
  return [...table.matchAll(/^\| `([^`]+)`/gm)].map(([, line = '']) => {
    const [program = '', ...args] = line.split(' ');
    return { program, args };
  });
}

/** What the proxy itself has executed, from a trace of it and all that it started. */
function executed(trace: string): { program: string; args: string[] }[] {
  const lines = trace.split('\n');
  const root = /^(\d+) +execve\(/.exec(lines[0] ?? '')?.[1] ?? '';
  const own = new Set([root]);
  const children = new Set<string>();
  /** What a process executed before its birth was told: the child of a fork may run first. */
  const early = new Map<string, { program: string; args: string[] }>();
  const calls = new Map<string, string>();
  const found: { program: string; args: string[] }[] = [];
  for (const line of lines) {
    const [, pid = '', said = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    // strace cuts a call in two when another process speaks in between.
    const whole = said.startsWith('<... ') ? (calls.get(pid) ?? '') + said : said;
    calls.set(pid, said.replace('<unfinished ...>', ''));
    const born = /^(?:clone3?|v?fork)\(.*= (\d+)$/.exec(whole)?.[1];
    if (born !== undefined && own.has(pid)) {
      const first = early.get(born);
      if (first !== undefined) found.push(first);
      else (whole.includes('CLONE_THREAD') ? own : children).add(born);
    }
    const given = /^execve\("((?:[^"\\]|\\.)*)", \[(.*?)\](?:\.\.\.)?, .*= 0$/.exec(whole);
    if (given === null) continue;
    const [, ...args] = [...(given[2] ?? '').matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word);
    const call = { program: given[1] ?? '', args };
    if (children.delete(pid)) found.push(call);
    else if (!early.has(pid)) early.set(pid, call);
  }
  return found;
}

/** A model that answers mail with mail. */
function postman(request: ResponsesRequest): ResponsesStep[] | undefined {
  const { input } = request.body;
  if (input.at(-1)?.type.endsWith('_call_output') === true) return undefined;
  if (!lastPrompt(request).includes('unread message')) return undefined;
  const answer = { to: 'alice', message: 'thank you' };
  return [{ call: 'atm_send', namespace: 'mcp__atm', arguments: answer, id: `call_${input.length}` }];
}

describeWith(['strace', 'codex'], 'the programs that the proxy executes', ({ strace, codex }) => {
  test('[NFR-3] are those of the documents, each with fixed arguments, and no shell is among them', async () => {
    const scene = await openRealScene('codex', 'auto', postman);
    try {
      const team = makeTeam(scene.place, 'default', ['alice']);
      // References in a table: only git itself knows the branch.
      mkdirSync(join(scene.place.work, '.git'));
      writeFileSync(join(scene.place.work, '.git', 'HEAD'), 'ref: refs/heads/.invalid\n');
      const trace = join(scene.place.root, 'trace');
      const watch = [
        strace,
        '-f',
        '-qq',
        '-s',
        '4096',
        '-e',
        'trace=execve,clone,clone3,fork,vfork',
        '-o',
        trace,
      ];
      const proxy = await scene.start([], {}, watch);
      await proxy.call('codex', { prompt: 'hello', identity: 'arch' });
      team.deliver('arch', { text: 'please answer' });
      await until(() => team.inbox('alice').length === 1);
      await until(() => team.unread('arch').length === 0);
      await proxy.call('atm_send', { identity: 'codex', to: 'alice', message: 'from the client' });
      expect(await proxy.end()).toBe(0);

      const names = new Map([
        [process.execPath, 'node'],
        [codex, 'codex'],
      ]);
      const calls = executed(readFileSync(trace, 'utf8')).map(({ program, args }) => ({
        program: names.get(program) ?? basename(program),
        args,
      }));
      const allowed = documented();
      const isDocumented = ({ program, args }: (typeof calls)[number]): boolean =>
        allowed.some(
          (one) =>
            one.program === program &&
            (one.args.at(-1) === '…' || one.args.length === args.length) &&
            one.args.every((arg, i) => arg === '…' || arg === args[i]),
        );
      expect(calls.filter((call) => !isDocumented(call))).toEqual([]);
      expect([...new Set(calls.map(({ program }) => program))].toSorted()).toEqual(
        [...new Set(allowed.map(({ program }) => program))].filter((name) => name !== 'claude').toSorted(),
      );
    } finally {
      await scene.close();
    }
  });
});
