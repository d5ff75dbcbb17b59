import { expect, test } from 'vitest';

import { useBridges } from './bridge-scene.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { eventually } from './hub-scene.ts';
import { until } from './proxy-client.ts';
import { makeTeam } from './team.ts';

const { place, scene, run, link, desk, agent, threads, said, messages } = useBridges();
/** Written in five parts: in four of them the bridge is killed, in the last the hub. */
const { part: PART } = sizeOf('bridge');
const EACH = 5 * PART;

/** The numbers from 0 on, so many. */
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

test(
  `killed again and again in the middle of ${EACH} messages each way, the hub once too: nothing is lost, nothing is doubled`,
  { timeout: 1_800_000 },
  async () => {
    const team = makeTeam(place(), 'default', ['alice', 'bob']);
    const mail = desk();
    let bridge = await link();
    const carol = await agent('carol');
    const { thread_id } = await carol.create_thread({ title: 'x', participants: ['default.alice'] });
    // The first of each way, so that both sides know each other.
    await carol.post_message({ thread_id, schema_version: 1, body: 'hello' });
    await until(() => team.unread('alice').includes('hello'));
    await mail.send('alice', { to: 'bob', message: 'hello' });
    const [{ thread_id: pair } = { thread_id: '' }] = await threads(1);
    await said(pair, 1);

    /** Writes a part of both ways at once, and answers to the hub with it. */
    const write = (from: number, to: number): Promise<unknown> =>
      Promise.all(
        upTo(to)
          .slice(from)
          .flatMap((n) => [
            carol.post_message({ thread_id, schema_version: 1, body: `hub ${n}` }),
            mail.send('alice', { to: 'bob', message: `mail ${n}` }),
            mail.send('alice', { to: 'hub-carol', message: `answer ${n}` }),
          ]),
      );
    const atHub = async (): Promise<number> => (await messages(pair)).length;

    for (const round of upTo(4)) {
      const before = { hub: await atHub(), mail: team.inbox('alice').length };
      const written = write(round * PART, (round + 1) * PART);
      await eventually(async () => (await atHub()) > before.hub && team.inbox('alice').length > before.mail);
      await bridge.end('SIGKILL');
      bridge = run([]);
      await bridge.said('linked');
      await written;
    }
    // Now the hub: what is written meanwhile as mail waits, and so does the bridge.
    await scene().kill();
    await Promise.all(
      upTo(EACH)
        .slice(4 * PART)
        .map((n) => mail.send('alice', { to: 'bob', message: `mail ${n}` })),
    );
    await bridge.said('away');
    await bridge.end('SIGKILL');
    bridge = run([]);
    await bridge.said('started');
    await scene().start();
    await Promise.all(
      upTo(EACH)
        .slice(4 * PART)
        .flatMap((n) => [
          carol.post_message({ thread_id, schema_version: 1, body: `hub ${n}` }),
          mail.send('alice', { to: 'hub-carol', message: `answer ${n}` }),
        ]),
    );
    const told = await said(pair, EACH + 1);
    measured('bridge', 'messages each way', String(told.length - 1));
    await said(thread_id, 2 * EACH + 1);
    await until(() => team.inbox('alice').length > EACH);
    // One more each way: what is doubled would have come before it.
    await mail.send('alice', { to: 'bob', message: 'the end' });
    await mail.send('alice', { to: 'hub-carol', message: 'the end' });
    await carol.post_message({ thread_id, schema_version: 1, body: 'hub: the end' });
    await said(pair, EACH + 2);
    await eventually(async () => (await messages(thread_id)).some(({ body }) => body === 'the end'));
    await until(() => team.unread('alice').includes('hub: the end'));
    await until(() => team.unread('hub-carol').length === 0);

    const sorted = (texts: string[]): string[] => texts.toSorted();
    const named = (name: string): string[] => upTo(EACH).map((n) => `${name} ${n}`);
    expect(told).toHaveLength(EACH + 1);
    expect(sorted((await messages(pair)).map(({ body }) => body))).toEqual(
      sorted(['hello', ...named('mail'), 'the end']),
    );
    expect(sorted((await messages(thread_id)).map(({ body }) => body))).toEqual(
      sorted(['hello', ...named('hub'), ...named('answer'), 'the end', 'hub: the end']),
    );
    expect(sorted(team.inbox('alice').map(({ text }) => text))).toEqual(
      sorted(['hello', ...named('hub'), 'hub: the end']),
    );
    expect(await threads(1)).toHaveLength(1);
    expect(await bridge.end('SIGTERM')).toBe(0);
    expect(bridge.stderr()).not.toContain('"level":"error"');
  },
);
