import { describe, expect, test } from 'vitest';

import { useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';
import { bad, type EnvelopeAnswer, envelopeOf, good, newPage, sendEnvelope } from './envelope-client.ts';

const remaining = ({ headers }: EnvelopeAnswer): number => Number(headers['x-ratelimit-remaining']);

describe('[KNOW-2] [C-ENV-24] the calls of a minute', () => {
  const scene = useHub({ settings: { ...WITHOUT_MODEL, 'envelope.requests_per_minute': 40 } });
  const list = (agent: string) =>
    sendEnvelope(
      scene.hub.url,
      scene.as(agent).token,
      envelopeOf('knowledge.list_documents', {}, { principal: { sub: agent, roles: ['agent'] } }),
    );

  test('[C-ENV-23] of 100 at once exactly the limit is granted, and nobody else pays for it', async () => {
    const answers = await Promise.all(Array.from({ length: 100 }, () => list('ann')));
    const granted = answers.filter(({ status }) => status === 200);
    expect(granted).toHaveLength(40);
    expect(granted.map(remaining).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, i) => i));
    for (const answer of answers) {
      expect(answer.headers['x-ratelimit-limit']).toBe('40');
      if (answer.status === 200) continue;
      bad(answer, 'RATE_LIMIT_EXCEEDED');
      expect(remaining(answer)).toBe(0);
      const wait = Number(answer.headers['retry-after']);
      expect(wait).toBeGreaterThan(0);
      expect(wait).toBeLessThanOrEqual(60);
    }
    good(await list('ben'));
  });
});

describe('a call that another limit refuses', () => {
  const scene = useHub({
    settings: {
      ...WITHOUT_MODEL,
      'envelope.requests_per_minute': 40,
      'envelope.max_concurrent': 1,
      'envelope.max_waiting': 1,
      'quota.messages_burst': 5,
      'quota.messages_per_minute': 1,
    },
  });

  test('uses up nothing of the minute', async () => {
    const principal = { sub: 'ed', roles: ['editor'] };
    const { token } = scene.as('ed', { role: 'orchestrator' });
    const create = () =>
      sendEnvelope(scene.hub.url, token, envelopeOf('knowledge.create_document', newPage(), { principal }));
    const answers = await Promise.all(Array.from({ length: 100 }, create));
    for (let i = 0; i < 50; i++) answers.push(await create());
    const done = answers.filter(({ status }) => status === 200);
    expect(done).toHaveLength(5);
    for (const answer of answers) if (answer.status !== 200) bad(answer, 'RATE_LIMIT_EXCEEDED');
    const list = envelopeOf('knowledge.list_documents', {}, { principal });
    const answer = await sendEnvelope(scene.hub.url, token, list);
    good(answer);
    expect(remaining(answer)).toBe(40 - 5 - 1);
  });
});

describe('[KNOW-20] [C-ENV-22] calls of one action at once', () => {
  const scene = useHub({
    settings: {
      ...WITHOUT_MODEL,
      'envelope.max_concurrent': 2,
      'envelope.max_waiting': 8,
      'envelope.max_wait_ms': 60_000,
    },
  });

  test('a few run, some wait, the rest is told to come back; none is lost', async () => {
    const principal = { sub: 'ed', roles: ['editor'] };
    const { token } = scene.as('ed', { role: 'orchestrator' });
    const answers = await Promise.all(
      Array.from({ length: 200 }, () =>
        sendEnvelope(scene.hub.url, token, envelopeOf('knowledge.create_document', newPage(), { principal })),
      ),
    );
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThanOrEqual(10);
    for (const answer of answers) {
      if (answer.status === 200) continue;
      bad(answer, 'RATE_LIMIT_EXCEEDED');
      expect(answer.headers['retry-after']).toBe('1');
    }
    expect((await scene.counts()).documents).toBe(done.length);
    good(
      await sendEnvelope(
        scene.hub.url,
        token,
        envelopeOf('knowledge.create_document', newPage(), { principal }),
      ),
    );
  });
});
