import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { atClock, CLOCK_ENV } from '../harness/other-clock.ts';
import { runCli, runJson } from '../harness/run-cli.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { claimsOf, createSigner, registerByCommand, type Signer } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { bad, envelopeOf, type Fields, good, jws, newPage, sendEnvelope } from './envelope-client.ts';

const DAY_MS = 86_400_000;
const env = CLOCK_ENV;

describeWith(['faketime'], 'documents and envelopes with another clock', ({ faketime }) => {
  const ahead = (ms: number): string[] => (ms === 0 ? [] : atClock(faketime, `+${Math.round(ms / 1_000)}s`));

  /** A hub whose clock is ahead, and an editor who calls it by envelopes of that time. */
  async function hubAhead(data: string, ms: number, flags: string[] = []) {
    const wrapper = ahead(ms);
    const hub = await startHub({
      data,
      wrapper,
      env,
      flags,
      settings: { 'knowledge.agents_create_under': '["root"]' },
    });
    const signer = await registerByCommand(`key-${ms}`, { data, wrapper, env });
    const token = signer.craft(claimsOf({ agent: 'ed', role: 'operator' }, Date.now() + ms));
    return {
      hub,
      signer,
      call: (action: string, args: Fields, more: Fields = {}, sender = token) =>
        sendEnvelope(
          hub.url,
          sender,
          envelopeOf(action, args, { timestamp: new Date(Date.now() + ms).toISOString(), ...more }),
        ),
      token,
      async close() {
        expect(await hub.stop()).toBe(0);
      },
    };
  }

  test('[KNOW-15] [C-ENV-15] a deleted document can be restored for 90 days, and is purged after', async () => {
    const data = freshFolder();
    const [kept, gone] = [newPage(), newPage()];
    const today = await hubAhead(data, 0);
    for (const page of [kept, gone]) {
      good(await today.call('knowledge.create_document', page));
      good(await today.call('knowledge.delete_document', { document_id: page.document_id }));
      bad(await today.call('knowledge.get_document', { document_id: page.document_id }), 'NOT_FOUND');
    }
    await today.close();

    const almost = await hubAhead(data, 89 * DAY_MS);
    good(await almost.call('knowledge.restore_document', { document_id: kept.document_id }));
    await almost.close();

    const over = await hubAhead(data, 91 * DAY_MS);
    good(await over.call('knowledge.get_document', { document_id: kept.document_id }));
    bad(await over.call('knowledge.restore_document', { document_id: gone.document_id }), 'NOT_FOUND');
    bad(await over.call('knowledge.create_document', gone), 'CONFLICT');
    await over.close();
    const report = await runJson<{ ok: boolean; counts: { documents: number } }>(['doctor'], { data });
    expect(report).toMatchObject({ ok: true, counts: { documents: 1 } });
    const lines = (await exported(data)).map((line) => JSON.parse(line) as Fields);
    const texts = lines.filter(({ type }) => type === 'content').map(({ content }) => content as Fields);
    expect(texts.map(({ document_id }) => document_id)).toEqual([kept.document_id]);
    const audit = lines
      .map(({ entry }) => entry as Fields | undefined)
      .filter((entry) => entry?.['type'] === 'tree.purged');
    expect(audit).toMatchObject([{ sender_agent_id: 'parley', metadata: { purged: [gone.document_id] } }]);
  }, 300_000);

  test('[KNOW-5] [C-ENV-06] a key gives its answer again after a restart and after 23 hours', async () => {
    const data = freshFolder();
    const args = newPage();
    const key = { idempotency_key: randomUUID() };
    const today = await hubAhead(data, 0);
    const first = good(await today.call('knowledge.create_document', args, key));
    await today.close();
    // At the same address: that is part of the answer.
    const later = await hubAhead(data, 23 * 3_600_000, ['--port', new URL(today.hub.url).port]);
    expect(good(await later.call('knowledge.create_document', args, key))).toEqual(first);
    await later.close();
  }, 300_000);

  test('[KNOW-1] [C-AUTH-13] the key of an outsider is warned about at 80 days and refused at 90', async () => {
    const data = freshFolder();
    const partner: Signer = createSigner('partner');
    const stdin = partner.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const named = ['--kid', 'partner', '--workspace', 'w1', '--external'];
    await runJson(['key', 'add', '--public', '-', ...named], { data, stdin });
    const outside = { principal: { sub: 'svc:partner', roles: ['agent'] } };
    const at = async (days: number) => {
      const hub = await hubAhead(data, days * DAY_MS);
      const iat = Math.floor((Date.now() + days * DAY_MS) / 1_000);
      const token = jws(partner, { iat, exp: iat + 300 });
      const answer = await hub.call('knowledge.create_document', newPage(), outside, token);
      await hub.close();
      return { answer, said: hub.hub.stderr() };
    };
    const { answer, said } = await at(89);
    good(answer);
    expect(said).toContain('partner is more than 80 days old');
    bad((await at(91)).answer, 'UNAUTHORIZED');
  }, 300_000);

  test('[KNOW-10] [C-ENV-29] the use of an old role stands in the log once a quarter, and it goes on to work', async () => {
    const data = freshFolder();
    const start = Date.now();
    let thread = '';
    let reported: Fields[] = [];
    // Eight days in each of four quarters that follow one another, from the middle of a quarter on.
    for (const days of [0, 1, 92, 93, 184, 185, 276, 277]) {
      const middle = quarterMiddle(start) - start;
      const hub = await hubAhead(data, middle + days * DAY_MS);
      const page = newPage();
      for (const role of ['cursor', 'codex'])
        good(await hub.call('knowledge.list_documents', {}, { principal: { sub: 'ed', roles: [role] } }));
      const owner = { principal: { sub: 'ed', roles: ['owner'] } };
      good(await hub.call('knowledge.create_document', page, owner));
      if (thread === '') {
        const got = good(await hub.call('knowledge.get_document', { document_id: page.document_id }, owner));
        thread = got['thread_id'] as string;
      }
      const input = { thread_id: thread, limit: 200 };
      const { messages } = succeeded(await v1Driver.call(hub.hub.url, hub.token, 'read_messages', input));
      reported = messages
        .map(({ metadata }) => metadata ?? {})
        .filter(({ event_type }) => event_type === 'role_alias.deprecation');
      await hub.close();
    }
    expect(reported.filter(({ alias }) => alias === 'cursor')).toHaveLength(4);
    expect(reported.filter(({ alias }) => alias === 'codex')).toHaveLength(4);
    expect(new Set(reported.map(({ quarter }) => quarter)).size).toBe(4);
  }, 300_000);

  test('[KNOW-26] an action that is to end goes on for 30 days after its users were told, whatever the setting says', async () => {
    const data = freshFolder();
    const file = join(dirname(data), 'parley.toml');
    const ends_at = new Date(Date.now() + DAY_MS).toISOString();
    const use = 'knowledge.get_document';
    const rows = `[[envelope.deprecated]]\naction = "knowledge.list_documents"\nends_at = "${ends_at}"\nuse = "${use}"\n`;
    writeFileSync(file, rows);
    const owner = { principal: { sub: 'ed', roles: ['owner'] } };
    const at = async (days: number) => {
      const hub = await hubAhead(data, days * DAY_MS, ['--config', file]);
      const answer = await hub.call('knowledge.list_documents', {}, owner);
      await hub.close();
      return answer;
    };
    const first = await at(0);
    good(first);
    const sunset = Date.parse(String(first.headers['sunset']));
    expect(first.headers['deprecation']).toMatch(/^@\d{10}$/);
    expect(sunset - Date.now()).toBeGreaterThan(29.9 * DAY_MS);
    good(await at(29));
    expect(bad(await at(31), 'INVALID_ARGUMENT')['hint']).toContain(use);
    const reported = (await exported(data))
      .map((line) => (JSON.parse(line) as { entry?: { metadata?: Fields } }).entry?.metadata ?? {})
      .filter(({ event_type }) => event_type === 'action.deprecation');
    expect(reported[0]).toMatchObject({ action: 'knowledge.list_documents', version: '1.0.0', use });
    expect(
      Date.parse(String(reported[0]?.['ends_at'])) - Date.parse(String(reported[0]?.['announced_at'])),
    ).toBe(30 * DAY_MS);
  }, 300_000);

  test('[KNOW-21] [C-ENV-28] a service that is silent for 11 minutes is stale', async () => {
    const data = freshFolder();
    const owner = { principal: { sub: 'ed', roles: ['owner'] } };
    const today = await hubAhead(data, 0);
    good(await today.call('registry.heartbeat', { status: 'healthy' }, owner));
    await today.close();
    const later = await hubAhead(data, 11 * 60_000);
    const services = async () => good(await later.call('registry.list', {}, owner))['services'];
    expect(await services()).toMatchObject([
      { service_id: 'ed', status: 'stale', reported: 'healthy', revision: 1 },
    ]);
    good(await later.call('registry.heartbeat', { status: 'healthy' }, owner));
    expect(await services()).toMatchObject([{ status: 'healthy', revision: 2 }]);
    await later.close();
  }, 300_000);

  async function exported(data: string): Promise<string[]> {
    const { stdout } = await runCli(['export'], { data });
    return stdout.trim().split('\n');
  }
});

/** The middle of the next quarter that begins after a moment. */
function quarterMiddle(now: number): number {
  const at = new Date(now);
  return Date.UTC(at.getUTCFullYear(), Math.floor(at.getUTCMonth() / 3) * 3 + 4, 1);
}
