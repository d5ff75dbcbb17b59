import { Agent } from 'node:http';

import { expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { onPostgres } from '../harness/store-profile.ts';
import { refused, succeeded, useHub } from '../harness/use-hub.ts';

const BURST = 5;
// Three nodes on a busy machine may take longer over a burst than one share of the minute.
const PER_MINUTE = onPostgres ? 6 : 30;
/** How far what nodes know of a budget may be apart: they tell each other every 50 ms (decision 0085). */
const APART_MS = onPostgres ? 500 : 0;
const scene = useHub({
  settings: { 'quota.messages_burst': BURST, 'quota.messages_per_minute': PER_MINUTE },
});
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test.each(faces)(
  '[HUB-R8] [C-HUB-35] over $name a caller beyond its quota is told when to come back; others go on',
  async (face) => {
    const name = `eager-${face.name.replaceAll(/\W/g, '')}`;
    const eager = scene.as(name, { face });
    const thread_id = await eager.thread('bob');
    for (let i = 0; i < BURST; i++) await eager.say(thread_id, `${i}`);
    const input = { thread_id, schema_version: 1, body: 'one too many' };
    await pause(APART_MS);
    let refusedAt = 0;
    const wait = await scene.unchanged(async () => {
      const answer = await eager.call('post_message', input);
      refusedAt = Date.now();
      const error = refused(answer, 'RATE_LIMITED', face);
      const ms = Number(error.details['retry_after_ms']);
      expect(ms).toBeGreaterThan(0);
      expect(ms).toBeLessThanOrEqual(60_000 / PER_MINUTE);
      // A tool's error has no HTTP status of its own.
      if (answer.status === 429) expect(answer.headers['retry-after']).toBe(String(Math.ceil(ms / 1_000)));
      // Neither a new connection nor a new token nor another session gives a new quota.
      const agent = new Agent();
      refused(await eager.call('post_message', input, { agent }), 'RATE_LIMITED', face);
      refused(
        await scene.as(name, { face, session: 'another' }).call('post_message', input, { agent }),
        'RATE_LIMITED',
        face,
      );
      return ms;
    });
    const bob = scene.as('bob', { face });
    succeeded(await bob.call('post_message', input));
    succeeded(await scene.as(name, { face, workspace: 'w2' }).call('list_threads', {}));
    await eager.ok('read_messages', { thread_id });
    await eager.ok('ack_read', { thread_id, last_read_seq: 1 });
    await pause(refusedAt + wait + APART_MS - Date.now() + 20);
    expect((await eager.say(thread_id, 'back again')).seq).toBe(BURST + 2);
  },
);
