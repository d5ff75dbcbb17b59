import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { describeAsRoot, mountSmallDisk } from '../faults/as-root.ts';
import { errorOf, PROGRAM, until } from './proxy-client.ts';
import { useProxies } from './use-proxies.ts';

const { start, place } = useProxies();

type Line = Record<string, unknown>;

const path = (): string => join(place().home, '.config/atm/agent-sessions/default/audit.jsonl');
const lines = (): Line[] =>
  readFileSync(path(), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
const environment = () => ({ PATH: process.env['PATH'], HOME: place().home, ATM_HOME: place().home });

describe('the audit log', () => {
  test('[FR-9.2] [FR-9.3] every turn and its end, with its session, its identity and a short summary', async () => {
    const proxy = await start();
    const long = `say hi\n${'é'.repeat(300)}`;
    const { agent_id } = (await proxy.call('codex', { prompt: long, identity: 'arch' })).structuredContent;
    await proxy.call('codex-reply', { agent_id, prompt: 'say Bearer abcdefghijklmnop12' });
    const [first, firstEnd, second, secondEnd] = lines();
    expect(first).toMatchObject({
      event: 'turn',
      source: 'client',
      agent_id,
      identity: 'arch',
      team: 'default',
    });
    expect(first?.['summary']).toBe(long.slice(0, 200).replace('\n', ' '));
    expect(firstEnd).toMatchObject({ event: 'turn_end', status: 'completed', agent_id });
    expect(firstEnd?.['correlation_id']).toBe(first?.['correlation_id']);
    expect(second?.['correlation_id']).not.toBe(first?.['correlation_id']);
    expect(second).toMatchObject({ agent_id, identity: 'arch', summary: 'say [redacted]' });
    expect(Date.parse(second?.['ts'] as string)).toBeGreaterThan(0);
    expect(secondEnd?.['duration_ms']).toEqual(expect.any(Number));
    expect(Date.parse(first?.['ts'] as string)).toBeGreaterThan(0);
    expect(statSync(path()).mode & 0o777).toBe(0o600);
  });

  test('a turn that fails is told as such', async () => {
    const proxy = await start();
    await proxy.call('codex', { prompt: 'fail no model' });
    await errorOf(proxy.call('codex', { prompt: 'die 3', identity: 'other' }));
    expect(lines().filter(({ event }) => event === 'turn_end')).toMatchObject([
      { status: 'failed' },
      { status: 'failed', identity: 'other' },
    ]);
  });

  test('every tool call is there once, and those that are refused with their reason, under one correlation id', async () => {
    const proxy = await start({ env: { SCRIPT_TOOLS: 'echo' } });
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi', identity: 'arch' }))
      .structuredContent;
    const before = lines().length;
    for (const tool of ['agent_status', 'agent_sessions', 'echo']) await proxy.call(tool);
    const refused = [
      ['codex', { prompt: 'say hi', identity: 'arch' }, -32_001],
      ['codex', { prompt: 'x', agent_file: 'y', identity: 'other' }, -32_007],
      ['codex-reply', { prompt: 'x', agent_id: 'codex:none' }, -32_002],
      ['atm_send', { to: 'bob', message: 'secret plan' }, -32_009],
      ['atm_read', { limit: 'many', identity: 'arch' }, -32_602],
      ['agent_close', {}, -32_602],
      ['atm_send', { to: '@', message: 'secret plan', summary: 'x', identity: 'arch' }, undefined],
      ['no/such tool', { identity: ['x'.repeat(9_999)] }, undefined],
    ] as const;
    for (const [tool, args] of refused) await proxy.call(tool, args).catch(() => {});
    await proxy.call('agent_close', { agent_id });
    const reported = lines().slice(before);
    for (const tool of ['agent_status', 'agent_sessions', 'echo'])
      expect(reported.filter((line) => line['tool'] === tool)).toMatchObject([{ event: 'tool_call' }]);
    for (const [tool, args, error_code] of refused.slice(0, -2))
      expect(
        reported.filter((line) => line['error_code'] === error_code && line['tool'] === tool),
      ).toMatchObject([
        {
          event: 'tool_call',
          status: 'refused',
          identity: ('identity' in args && args.identity) || null,
          error_name: expect.any(String),
          correlation_id: expect.any(String),
        },
      ]);
    expect(
      reported.filter((line) => line['tool'] === 'agent_close' && line['agent_id'] === agent_id),
    ).toHaveLength(1);
    // What was begun and then refused stands there twice, as one call.
    for (const [tool, name] of [
      ['atm_send', 'VALIDATION_ERROR'],
      ['agent_close', 'INVALID_PARAMS'],
    ] as const) {
      const { correlation_id } =
        reported.find((line) => line['tool'] === tool && line['error_name'] === name) ?? {};
      expect(reported.filter((line) => line['correlation_id'] === correlation_id)).toMatchObject([
        { tool, event: 'tool_call' },
        { tool, event: 'tool_call', status: 'refused', summary: expect.any(String) as unknown },
      ]);
    }
    expect(JSON.stringify(reported)).not.toContain('secret plan');
    expect(Math.max(...reported.map((line) => JSON.stringify(line).length))).toBeLessThan(1_000);
  });

  test('a line that was cut short does not swallow the next one', async () => {
    mkdirSync(join(path(), '..'), { recursive: true });
    writeFileSync(path(), '{"ts":"2026-01-01T00:00:00Z","event":"tu');
    const proxy = await start();
    await proxy.call('codex', { prompt: 'say hi' });
    const printed = spawnSync(process.execPath, [PROGRAM, 'audit', '--json'], {
      env: environment(),
      encoding: 'utf8',
    });
    expect(printed.stdout.trim().split('\n')).toHaveLength(2);
  });

  test('audit prints the log by identity, the last lines of it, and goes on with -f', async () => {
    const proxy = await start();
    await proxy.call('codex', { prompt: 'say one', identity: 'one' });
    const { agent_id } = (await proxy.call('codex', { prompt: 'say two', identity: 'two' }))
      .structuredContent;
    const audit = (...args: string[]): string =>
      spawnSync(process.execPath, [PROGRAM, 'audit', ...args], { env: environment(), encoding: 'utf8' })
        .stdout;
    expect(audit('--identity', 'one')).toMatch(
      / one {2}turn \(client\) {2}say one\n.* turn ended: completed/,
    );
    expect(audit('-n', '1').trim().split('\n')).toHaveLength(1);
    const follower = spawn(
      process.execPath,
      [PROGRAM, 'audit', '-f', '-n', '1', '--agent', agent_id, '--json'],
      {
        env: environment(),
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let said = '';
    follower.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await until(() => said.includes('turn_end'));
    await proxy.call('codex-reply', { agent_id, prompt: 'say three' });
    await until(() => said.includes('say three'));
    expect(said).not.toContain('say one');
    const ended = new Promise((resolve) => follower.once('exit', resolve));
    follower.kill('SIGINT');
    expect(await ended).toBe(0);
  });
});

describeAsRoot('a full disk', () => {
  test('[C-PROXY-36] nothing is done unlogged, and it goes on once there is space', async () => {
    const disk = mountSmallDisk(262_144);
    const ballast = join(disk, 'ballast');
    const proxy = await start({ env: { ATM_HOME: disk } });
    const { agent_id } = (await proxy.call('codex', { prompt: 'say hi' })).structuredContent;
    expect(() => writeFileSync(ballast, Buffer.alloc(1_048_576))).toThrow('ENOSPC');
    // The last page of the log may yet have room for a few lines.
    const turnUntilFull = async (): Promise<{ prompt: string; error: unknown }> => {
      for (let n = 0; n < 50; n++) {
        const prompt = `say turn-${n}-`;
        const error = await proxy.call('codex-reply', { agent_id, prompt }).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        if (error !== undefined) return { prompt, error };
      }
      throw new Error('the disk was never full');
    };
    const { prompt, error } = await turnUntilFull();
    expect(error).toMatchObject({
      code: -32_603,
      data: { error_source: 'proxy', error_name: 'AUDIT_FAILED' },
    });
    expect(JSON.stringify(proxy.received())).not.toContain(prompt);
    const begun = await errorOf(proxy.call('codex', { prompt: 'say unlogged', identity: 'other' }));
    expect(begun).toMatchObject({ code: -32_603 });
    rmSync(ballast);
    const reply = await proxy.call('codex-reply', { agent_id, prompt: 'say logged' });
    expect(reply.structuredContent.content).toBe('logged');
    expect((await proxy.call('codex', { prompt: 'say hi', identity: 'other' })).isError).toBeUndefined();
    expect(JSON.stringify(proxy.received())).not.toContain('say unlogged');
  });
});
