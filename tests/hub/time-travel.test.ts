import { afterAll, beforeAll, expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { checkEnded, emptyLedger, note, parseLog, storedMessages } from '../harness/oracle.ts';
import { atClock, CLOCK_ENV } from '../harness/other-clock.ts';
import { runCli } from '../harness/run-cli.ts';
import { freshFolder, type HubProcess, startHub } from '../harness/start-hub.ts';
import { claimsOf, registerByCommand, type Signer } from '../harness/tokens.ts';
import { refused, succeeded } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';

const HOUR_MS = 3_600_000;
const env = CLOCK_ENV;

describeWith(['faketime'], 'with another clock', ({ faketime }) => {
  const at = (time: string): string[] => atClock(faketime, time);

  /** A hub whose clock is ahead by some hours, its caller, and the way out through the oracle. */
  async function hubAhead(data: string, hours: number) {
    const wrapper = hours === 0 ? [] : at(`+${hours}h`);
    const hub = await startHub({ data, wrapper, env });
    const signer = await registerByCommand(`key-${hours}`, { data, wrapper, env });
    const token = signer.craft(claimsOf({ agent: 'alice' }, Date.now() + hours * HOUR_MS));
    const ledger = emptyLedger();
    return {
      async call(operation: Parameters<typeof v1Driver.call>[2], input: Record<string, unknown>) {
        const answer = await v1Driver.call(hub.url, token, operation, input);
        note(ledger, answer, input);
        return succeeded(answer) as Record<string, unknown>;
      },
      async close() {
        expect(await hub.stop()).toBe(0);
        await checkEnded(hub, ledger, { keysMayRepeat: true });
      },
    };
  }

  test('[HUB-R7] [HUB-R9] [C-HUB-10] [C-HUB-34] a key binds 24 hours, also across restarts; messages stay for ever', async () => {
    const data = freshFolder();
    const today = await hubAhead(data, 0);
    const { thread_id } = await today.call('create_thread', { title: 'for ever' });
    const post = { thread_id, schema_version: 1, body: 'same', idempotency_key: 'k' };
    const first = await today.call('post_message', post);
    for (let i = 0; i < 20; i++) await today.call('post_message', { ...post, idempotency_key: `k${i}` });
    await today.close();

    const almost = await hubAhead(data, 23);
    expect(await almost.call('post_message', post)).toEqual(first);
    await almost.close();

    const over = await hubAhead(data, 25);
    const second = await over.call('post_message', post);
    expect(second['seq']).toBe(22);
    expect(await over.call('post_message', post)).toEqual(second);
    await over.close();

    const before = await storedMessages(data);
    const later = await hubAhead(data, 400 * 24);
    // The purge of old keys runs while nobody writes; it must not touch a message.
    await new Promise((resolve) => setTimeout(resolve, 600));
    const page = await later.call('read_messages', { thread_id, limit: 200 });
    expect(page['messages']).toEqual(
      before.map(({ type: _type, ...message }: (typeof before)[0] & { type?: string }) => message),
    );
    expect(before).toHaveLength(22);
    await later.close();
  });

  test('[HUB-A1] [C-AUTH-03] the clock skew is 30 seconds, to the second', async () => {
    // A clock that stands still makes every second count.
    const wrapper = at('2030-06-01 12:00:00');
    const now = Date.parse('2030-06-01T12:00:00Z');
    const data = freshFolder();
    const hub = await startHub({ data, wrapper, env });
    const signer = await registerByCommand('test-key', { data, wrapper, env });
    const skew = 30;
    const codeOf = async (claims: Record<string, unknown>): Promise<string> => {
      const token = signer.craft({ ...claimsOf({ agent: 'alice' }, now - 7_200_000), ...claims });
      return (await v1Driver.call(hub.url, token, 'list_threads', {})).error?.code ?? 'accepted';
    };
    const ago = (seconds: number): number => now / 1_000 - seconds;
    expect({
      'expired an hour ago': await codeOf({ exp: ago(3_600) }),
      'expired skew + 5 ago': await codeOf({ exp: ago(skew + 5) }),
      'expired skew ago': await codeOf({ exp: ago(skew) }),
      'expired skew - 1 ago': await codeOf({ exp: ago(skew - 1) }),
      'expires now': await codeOf({ exp: ago(0) }),
      'issued skew ahead': await codeOf({ iat: ago(-skew), exp: ago(-3_600) }),
      'issued skew + 1 ahead': await codeOf({ iat: ago(-skew - 1), exp: ago(-3_600) }),
      'not before skew ahead': await codeOf({ nbf: ago(-skew), exp: ago(-3_600) }),
      'not before skew + 1 ahead': await codeOf({ nbf: ago(-skew - 1), exp: ago(-3_600) }),
    }).toEqual({
      'expired an hour ago': 'UNAUTHORIZED',
      'expired skew + 5 ago': 'UNAUTHORIZED',
      'expired skew ago': 'UNAUTHORIZED',
      'expired skew - 1 ago': 'accepted',
      'expires now': 'accepted',
      'issued skew ahead': 'accepted',
      'issued skew + 1 ahead': 'UNAUTHORIZED',
      'not before skew ahead': 'accepted',
      'not before skew + 1 ahead': 'UNAUTHORIZED',
    });
    expect(await hub.stop()).toBe(0);
  });

  let hub: HubProcess | undefined;
  const signers = new Map<number, Signer>();

  beforeAll(async () => {
    const data = freshFolder();
    for (const days of [79, 81, 89, 91])
      signers.set(days, await registerByCommand(`key-${days}`, { data, env, wrapper: at(`-${days}d`) }));
    hub = await startHub({ data, settings: { 'auth.max_lifetime_ms': 1e13 } });
  });
  afterAll(async () => {
    await hub?.stop();
  });

  test('[C-AUTH-13] a key is warned about from day 80 and refused after day 90, whatever the settings', async () => {
    const url = hub?.url ?? '';
    const call = async (days: number) =>
      v1Driver.call(url, signers.get(days)?.token({ agent: 'alice' }), 'list_threads', {});
    for (const days of [79, 81, 89]) succeeded(await call(days));
    refused(await call(91), 'UNAUTHORIZED');
    const warnings = (): string[] =>
      parseLog(hub?.stderr() ?? '')
        .filter(({ level }) => level === 'warn')
        .map(({ msg }) => /key-\d+/.exec(msg)?.[0] ?? msg);
    await expect.poll(warnings).toEqual(['key-81', 'key-89']);
    for (const days of [81, 89]) await call(days);
    expect(warnings()).toHaveLength(2);
    const raised = await runCli(['serve', '--port', '0', '--set', 'auth.max_key_age_ms=99999999999'], {
      data: freshFolder(),
    });
    expect([raised.code, raised.stderr]).toEqual([2, expect.stringContaining('max_key_age_ms')]);
  });
});
