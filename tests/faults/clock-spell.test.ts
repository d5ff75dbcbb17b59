import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import type { OutputOf } from '@parley/protocol';
import { expect, test } from 'vitest';

import { runJson } from '../harness/run-cli.ts';
import { createSigner } from '../harness/tokens.ts';
import { bad, envelopeOf, good, jws, newPage, sendEnvelope } from '../knowledge/envelope-client.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type CrashHub, startHub, temporaryFolder, tokenFor } from './crash-hub.ts';
import { fakeClock } from '../harness/fake-clock.ts';
import { clientOf, createThread, type HubClient, ok, post, readAll } from './hub-client.ts';
import { expectSoundRecord } from './oracle.ts';

const DAY = 86_400_000;
/** Far enough to purge what was deleted today. */
const AHEAD = 100 * DAY;
const SETTINGS = {
  'knowledge.agents_create_under': '["root"]',
  'knowledge.sweep_ms': 100,
  'queue.keep_done_ms': DAY,
};

describeWith(['libfaketime'], 'a spell of a wrong clock', ({ libfaketime }) => {
  async function scene() {
    const clock = fakeClock(libfaketime);
    const folder = temporaryFolder();
    let hub: CrashHub = await startHub(folder, { env: clock.env, settings: SETTINGS });
    const tokenNow = () => tokenFor(folder, 'alice', { role: 'operator', now: clock.now() });
    return {
      clock,
      folder,
      hub: () => hub,
      /** Somebody with a token of the hub's own time. */
      alice: async (): Promise<HubClient> => clientOf(hub.url, 'alice', await tokenNow()),
      restart: async (signal: NodeJS.Signals): Promise<void> => {
        await hub.end(signal);
        hub = await startHub(folder, { env: clock.env, settings: SETTINGS });
      },
    };
  }

  test.each(['the hub runs on', 'the hub is killed in it', 'the hub is stopped before and after it'])(
    'nothing is forgotten that was to be kept: %s',
    async (way) => {
      const { clock, folder, hub, alice, restart } = await scene();
      const partner = createSigner('partner');
      const stdin = partner.publicKey.export({ type: 'spki', format: 'pem' }).toString();
      const named = ['--kid', 'partner', '--workspace', 'w', '--external'];
      await runJson(['key', 'add', '--public', '-', ...named], { data: folder, stdin });
      const outside = { tenant_id: 'w', principal: { sub: 'svc:partner', roles: ['agent'] } };
      const nonce = randomUUID();
      const useNonce = () =>
        sendEnvelope(
          hub().url,
          jws(partner, { nonce }),
          envelopeOf('knowledge.create_document', newPage(), outside),
        );
      const change = async (operation: string, input: object) =>
        ok(await (await alice()).call(operation, input));

      const thread = await createThread(await alice());
      const first = ok(await post(await alice(), thread, 'one', 'k1'));
      good(await useNonce());
      const page = newPage();
      await change('create_document', page);
      await change('delete_document', { document_id: page.document_id });

      if (way.includes('stopped')) await hub().end('SIGTERM');
      clock.move(AHEAD);
      if (way.includes('stopped')) await restart('SIGTERM');
      // A repeat is known as one in the spell too; what is new is taken.
      expect(ok(await post(await alice(), thread, 'one', 'k1'))).toEqual(first);
      const second = ok(await post(await alice(), thread, 'two', 'k2'));
      if (way.includes('killed')) await restart('SIGKILL');
      const reported = ok(await (await alice()).call<OutputOf<'describe_hub'>>('describe_hub', {}));
      expect(reported.clock.ahead_ms).toBeGreaterThan(AHEAD - DAY);
      expect(Date.parse(reported.clock.believed_at ?? '') - clock.now()).toBeGreaterThan(DAY / 2);
      expect(reported.clock.jumps).toHaveLength(1);
      // Every sweep has had its chance, more than once.
      await sleep(1_000);
      expect(ok(await post(await alice(), thread, 'one', 'k1'))).toEqual(first);

      if (way.includes('stopped')) await hub().end('SIGTERM');
      clock.move(0);
      if (way.includes('stopped')) await restart('SIGTERM');
      await sleep(1_000);
      expect(ok(await post(await alice(), thread, 'one', 'k1'))).toEqual(first);
      expect(ok(await post(await alice(), thread, 'two', 'k2'))).toEqual(second);
      expect((await readAll(await alice(), thread)).map(({ body }) => body)).toEqual(['one', 'two']);
      bad(await useNonce(), 'UNAUTHORIZED');
      await change('restore_document', { document_id: page.document_id });
      const { clock: after } = ok(await (await alice()).call<OutputOf<'describe_hub'>>('describe_hub', {}));
      expect(after).toMatchObject({ ahead_ms: 0, jumps: [{}, {}] });
      const { stderr } = await hub().end('SIGTERM');
      expect(stderr).toContain('the clock jumped back');
      expectSoundRecord(folder);
      if (way !== 'the hub runs on') return;
      const report = await runJson<{ ok: boolean; checks: { name: string; detail: string }[] }>(['doctor'], {
        data: folder,
      });
      expect(report.checks.find(({ name }) => name === 'clock')?.detail).toContain('its last jump was from');
    },
    120_000,
  );
});
