import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { chooseModel, createModelEmbedder } from '@parley/search';
import { expect, test } from 'vitest';

import { runJson } from '../harness/run-cli.ts';
import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';

const LONG = 300_000;
const PAGES = [
  ['Pets', 'Felines sleep most of the day. They wake at dusk and hunt until the sun rises.'],
  ['Money', 'The treasurer signs every invoice above a thousand euros before it is paid.'],
  ['Harbour', 'Ships above forty metres need a pilot when the tide runs out.'],
] as const;
/** Asked in words that no page has. */
const ASKED = [
  ['how long do kittens nap?', 'Pets'],
  ['who approves expensive bills?', 'Money'],
  ['which large vessels must be guided?', 'Harbour'],
] as const;

describeWith(['gte-small'], 'a real model other than the one that comes with the hub', (tools) => {
  const folder = tools['gte-small'];
  const scene = useHub({ settings: { 'search.model.folder': folder, 'search.model.tokens': 256 } });

  test(
    '[KNOW-17] a hub with a model of its own finds by the meaning that this model sees',
    { timeout: LONG },
    async () => {
      const ed = scene.as('ed', { role: 'orchestrator', workspace: 'second' });
      for (const [title, body] of PAGES)
        await ed.ok('create_document', {
          document_id: randomUUID(),
          parent_id: 'root',
          content: { mime_type: 'text/markdown', body },
          metadata: { title },
        });
      for (const [query, title] of ASKED)
        await expect
          .poll(
            async () => {
              const routing = { max_latency_ms: 10_000 };
              const { context, usage, missing } = await ed.ok('query_knowledge', { query, routing });
              return { first: context[0]?.heading_path[0], words: usage.keyword_hits, missing };
            },
            { timeout: 60_000, interval: 250 },
          )
          .toEqual({ first: title, words: 0, missing: [] });
      const { checks } = await runJson<{ checks: { name: string; ok: boolean; detail: string }[] }>(
        ['doctor'],
        { data: scene.hub.data, env: { PARLEY_SEARCH_MODEL_FOLDER: folder } },
      );
      const check = checks.find(({ name }) => name === 'search model');
      expect(check).toMatchObject({ ok: true, detail: expect.stringContaining('gte-small@') as unknown });
    },
  );

  test(
    '[KNOW-17] its vectors tell what belongs together, and are not those of the hub’s own model',
    { timeout: LONG },
    async () => {
      const { hidden_size } = JSON.parse(readFileSync(`${folder}/config.json`, 'utf8')) as {
        hidden_size: number;
      };
      const onFault = (error: unknown): void => {
        throw error;
      };
      const own = { folder, tokens: 512, pooling: 'mean', ask: '', text: '', isEnglish: true } as const;
      const [second, first] = [chooseModel(own), undefined].map((one) =>
        createModelEmbedder(LONG, onFault, one),
      );
      if (first === undefined || second === undefined) throw new Error('no embedders');
      const texts = ['what is the capital of China?', 'Beijing', 'sorting algorithms'];
      const made = (await second.embed(texts)) as Float32Array[];
      const others = (await first.embed(texts)) as Float32Array[];
      await first.close();
      await second.close();
      expect(made.map(({ length }) => length)).toEqual(texts.map(() => hidden_size));
      const near = (a: Float32Array | undefined, b: Float32Array | undefined): number =>
        [...(a ?? [])].reduce((sum, x, i) => sum + x * (b?.[i] ?? 0), 0);
      expect(near(made[0], made[1])).toBeGreaterThan(0.8);
      expect(near(made[0], made[1])).toBeGreaterThan(near(made[0], made[2]));
      expect(Math.abs(near(made[0], others[0]))).toBeLessThan(0.5);
    },
  );
});
