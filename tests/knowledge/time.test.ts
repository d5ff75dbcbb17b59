import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { v1Driver } from '../harness/call.ts';
import { fakeClock } from '../harness/fake-clock.ts';
import { runJson } from '../harness/run-cli.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { linesOf, recordOf } from '../harness/stored-record.ts';
import { createSigner, registerByCommand, type Signer } from '../harness/tokens.ts';
import { succeeded } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';
import { describeWith } from '../tools/describe-with.ts';
import {
  bad,
  type EnvelopeAnswer,
  envelopeOf,
  type Fields,
  good,
  jws,
  newPage,
  sendEnvelope,
} from './envelope-client.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const LONG = 300_000;

describeWith(['libfaketime'], 'documents and envelopes with another clock', ({ libfaketime }) => {
  const clock = fakeClock(libfaketime);

  /** The key of a platform, which is good for 90 days before and after it was made. */
  function keyMadeAt(kid: string, data: string, ms: number): Promise<Signer> {
    clock.move(ms);
    return registerByCommand(kid, { data, env: clock.env });
  }

  /** A hub whose clock is ahead and can be moved on, and an editor who calls it by envelopes of that time. */
  async function hubAhead(data: string, signer: () => Signer, ms: number, flags: string[] = []) {
    clock.move(ms);
    const settings = { ...WITHOUT_MODEL, 'knowledge.agents_create_under': '["root"]' };
    const hub = await startHub({ data, env: clock.env, flags, settings });
    const tokenNow = (): string => signer().token({ agent: 'ed', role: 'operator' }, timesOf(clock.now()));
    return {
      hub,
      tokenNow,
      call: (action: string, args: Fields, more: Fields = {}, sender = tokenNow()) => {
        const timestamp = new Date(clock.now()).toISOString();
        return sendEnvelope(hub.url, sender, envelopeOf(action, args, { timestamp, ...more }));
      },
      async close() {
        expect(await hub.stop()).toBe(0);
      },
    };
  }

  describe('one record through the days', () => {
    const data = freshFolder();
    const [kept, gone, keyed] = [newPage(), newPage(), newPage()];
    const key = { idempotency_key: randomUUID() };
    const owner = { principal: { sub: 'ed', roles: ['owner'] } };
    const outside = { principal: { sub: 'svc:partner', roles: ['agent'] } };
    const use = 'knowledge.get_document';
    const answers: Record<string, EnvelopeAnswer> = {};
    const said: Record<string, string> = {};
    let began = 0;
    const answer = (name: string): EnvelopeAnswer => {
      const one = answers[name];
      if (one === undefined) throw new Error(`nothing was asked as ${name}`);
      return one;
    };

    beforeAll(async () => {
      const partner = createSigner('partner');
      const stdin = partner.publicKey.export({ type: 'spki', format: 'pem' }).toString();
      const named = ['--kid', 'partner', '--workspace', 'w1', '--external'];
      await runJson(['key', 'add', '--public', '-', ...named], { data, stdin });
      const signer = await keyMadeAt('test-key', data, 45 * DAY_MS);
      const file = join(dirname(data), 'parley.toml');
      mkdirSync(dirname(file), { recursive: true });
      began = Date.now();
      const ends_at = new Date(began + DAY_MS).toISOString();
      writeFileSync(
        file,
        `[[envelope.deprecated]]\naction = "knowledge.list_documents"\nends_at = "${ends_at}"\nuse = "${use}"\n`,
      );
      const flags = ['--config', file];
      const fromOutside = (): string => jws(partner, timesOf(clock.now(), 300));

      const today = await hubAhead(data, () => signer, 0, flags);
      for (const [name, page] of Object.entries({ kept, gone })) {
        const { document_id } = page;
        answers[`${name} made`] = await today.call('knowledge.create_document', page);
        answers[`${name} deleted`] = await today.call('knowledge.delete_document', { document_id });
        answers[`${name} asked for`] = await today.call('knowledge.get_document', { document_id });
      }
      answers['keyed'] = await today.call('knowledge.create_document', keyed, key);
      answers['listed at first'] = await today.call('knowledge.list_documents', {}, owner);
      answers['healthy'] = await today.call('registry.heartbeat', { status: 'healthy' }, owner);
      clock.move(11 * MINUTE_MS);
      answers['services when silent'] = await today.call('registry.list', {}, owner);
      answers['healthy again'] = await today.call('registry.heartbeat', { status: 'healthy' }, owner);
      answers['services'] = await today.call('registry.list', {}, owner);
      await today.close();

      // At the same address: that is part of the answer.
      const port = new URL(today.hub.url).port;
      const later = await hubAhead(data, () => signer, 23 * HOUR_MS, [...flags, '--port', port]);
      answers['keyed again'] = await later.call('knowledge.create_document', keyed, key);
      clock.move(29 * DAY_MS);
      answers['listed after 29 days'] = await later.call('knowledge.list_documents', {}, owner);
      clock.move(31 * DAY_MS);
      answers['listed after 31 days'] = await later.call('knowledge.list_documents', {}, owner);
      await later.close();

      const almost = await hubAhead(data, () => signer, 89 * DAY_MS, flags);
      answers['restored'] = await almost.call('knowledge.restore_document', {
        document_id: kept.document_id,
      });
      answers['from outside after 89 days'] = await almost.call(
        'knowledge.create_document',
        newPage(),
        outside,
        fromOutside(),
      );
      await almost.close();
      said['after 89 days'] = almost.hub.stderr();

      const over = await hubAhead(data, () => signer, 91 * DAY_MS, flags);
      answers['kept'] = await over.call('knowledge.get_document', { document_id: kept.document_id });
      answers['restored too late'] = await over.call('knowledge.restore_document', {
        document_id: gone.document_id,
      });
      answers['gone made again'] = await over.call('knowledge.create_document', gone);
      answers['from outside after 91 days'] = await over.call(
        'knowledge.create_document',
        newPage(),
        outside,
        fromOutside(),
      );
      await over.close();
    }, LONG);

    test('[KNOW-15] [C-ENV-15] a deleted document can be restored for 90 days, and is purged after', async () => {
      for (const name of ['kept', 'gone']) {
        good(answer(`${name} made`));
        good(answer(`${name} deleted`));
        bad(answer(`${name} asked for`), 'NOT_FOUND');
      }
      good(answer('restored'));
      good(answer('kept'));
      bad(answer('restored too late'), 'NOT_FOUND');
      bad(answer('gone made again'), 'CONFLICT');
      expect((await (await recordOf(data)).check()).problems).toEqual([]);
      const lines = await readLines();
      const texts = lines.filter(({ type }) => type === 'content').map(({ content }) => content as Fields);
      const ids = texts.map(({ document_id }) => document_id);
      expect(ids).toContain(kept.document_id);
      expect(ids).not.toContain(gone.document_id);
      const audit = lines
        .map(({ entry }) => entry as Fields | undefined)
        .filter((entry) => entry?.['type'] === 'tree.purged');
      expect(audit).toMatchObject([{ sender_agent_id: 'parley', metadata: { purged: [gone.document_id] } }]);
    });

    test('[KNOW-5] [C-ENV-06] a key gives its answer again after a restart and after 23 hours', () => {
      expect(good(answer('keyed again'))).toEqual(good(answer('keyed')));
    });

    test('[KNOW-1] [C-AUTH-13] the key of an outsider is warned about at 80 days and refused at 90', () => {
      good(answer('from outside after 89 days'));
      expect(said['after 89 days']).toContain('partner is more than 80 days old');
      bad(answer('from outside after 91 days'), 'UNAUTHORIZED');
    });

    test('[KNOW-26] an action that is to end goes on for 30 days after its users were told, whatever the setting says', async () => {
      const first = answer('listed at first');
      good(first);
      const sunset = Date.parse(String(first.headers['sunset']));
      expect(first.headers['deprecation']).toMatch(/^@\d{10}$/);
      expect(sunset - began).toBeGreaterThan(29.9 * DAY_MS);
      good(answer('listed after 29 days'));
      expect(bad(answer('listed after 31 days'), 'INVALID_ARGUMENT')['hint']).toContain(use);
      const reported = (await readLines())
        .map(({ entry }) => (entry as { metadata?: Fields } | undefined)?.metadata ?? {})
        .filter(({ event_type }) => event_type === 'action.deprecation');
      expect(reported[0]).toMatchObject({ action: 'knowledge.list_documents', version: '1.0.0', use });
      expect(
        Date.parse(String(reported[0]?.['ends_at'])) - Date.parse(String(reported[0]?.['announced_at'])),
      ).toBe(30 * DAY_MS);
    });

    test('[KNOW-21] [C-ENV-28] a service that is silent for 11 minutes is stale', () => {
      good(answer('healthy'));
      expect(good(answer('services when silent'))['services']).toMatchObject([
        { service_id: 'ed', status: 'stale', reported: 'healthy', revision: 1 },
      ]);
      good(answer('healthy again'));
      expect(good(answer('services'))['services']).toMatchObject([{ status: 'healthy', revision: 2 }]);
    });

    const readLines = async (): Promise<Fields[]> =>
      (await linesOf(data)).map((line) => JSON.parse(line) as Fields);
  });

  test(
    '[KNOW-10] [C-ENV-29] the use of an old role stands in the log once a quarter, and it goes on to work',
    async () => {
      const data = freshFolder();
      const middle = quarterMiddle(Date.now()) - Date.now();
      const first = await keyMadeAt('first', data, middle + 46 * DAY_MS);
      const second = await keyMadeAt('second', data, middle + 230 * DAY_MS);
      const hub = await hubAhead(
        data,
        () => (clock.now() < Date.now() + middle + 100 * DAY_MS ? first : second),
        middle,
      );
      const owner = { principal: { sub: 'ed', roles: ['owner'] } };
      let thread = '';
      let reported: Fields[] = [];
      // Eight days in each of four quarters that follow one another, from the middle of a quarter on.
      for (const days of [0, 1, 92, 93, 184, 185, 276, 277]) {
        clock.move(middle + days * DAY_MS);
        const page = newPage();
        for (const role of ['cursor', 'codex'])
          good(await hub.call('knowledge.list_documents', {}, { principal: { sub: 'ed', roles: [role] } }));
        good(await hub.call('knowledge.create_document', page, owner));
        if (thread === '') {
          const got = good(
            await hub.call('knowledge.get_document', { document_id: page.document_id }, owner),
          );
          thread = got['thread_id'] as string;
        }
        const input = { thread_id: thread, limit: 200 };
        const { messages } = succeeded(
          await v1Driver.call(hub.hub.url, hub.tokenNow(), 'read_messages', input),
        );
        reported = messages
          .map(({ metadata }) => metadata ?? {})
          .filter(({ event_type }) => event_type === 'role_alias.deprecation');
      }
      expect(reported.filter(({ alias }) => alias === 'cursor')).toHaveLength(4);
      expect(reported.filter(({ alias }) => alias === 'codex')).toHaveLength(4);
      expect(new Set(reported.map(({ quarter }) => quarter)).size).toBe(4);
      await hub.close();
    },
    LONG,
  );
});

/** The times of a token that begins now. */
function timesOf(now: number, lives_s = 3_600): { iat: number; exp: number } {
  const iat = Math.floor(now / 1_000);
  return { iat, exp: iat + lives_s };
}

/** The middle of the next quarter that begins after a moment. */
function quarterMiddle(now: number): number {
  const at = new Date(now);
  return Date.UTC(at.getUTCFullYear(), Math.floor(at.getUTCMonth() / 3) * 3 + 4, 1);
}
