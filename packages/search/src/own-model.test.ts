import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, expect, test } from 'vitest';

import { createModelEmbedder } from './embedder.ts';
import { chooseModel, type OwnModel } from './model-files.ts';
import { createRuler } from './model-reader.ts';
import { openSearch } from './open-search.ts';
import { windowsOf } from './passages.ts';
import { PAGES } from './search-contract.ts';
import { cosine } from './vectors.ts';

const LONG = 120_000;
const TOKENIZER = ['tokenizer.json', 'tokenizer_config.json'];
const builtIn = fileURLToPath(new URL('../../hub/dist/model', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'parley-own-model-'));
afterAll(() => rmSync(home, { recursive: true }));

/** A folder as Hugging Face has them, with the weights of the model that comes with the hub, and what is to differ. */
function modelIn(name: string, files: Record<string, string | undefined> = {}): string {
  const folder = join(home, name);
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  symlinkSync(join(builtIn, 'onnx/model_quantized.onnx'), join(folder, 'onnx/model_quantized.onnx'));
  writeFileSync(join(folder, 'config.json'), '{"hidden_size":384}');
  for (const file of TOKENIZER) writeFileSync(join(folder, file), readFileSync(join(builtIn, file)));
  for (const [file, text] of Object.entries(files)) {
    rmSync(join(folder, file), { force: true });
    if (text !== undefined) writeFileSync(join(folder, file), text);
  }
  return folder;
}

const own = (folder: string, more: Partial<OwnModel> = {}): OwnModel => ({
  folder,
  tokens: 64,
  pooling: 'mean',
  ask: '',
  text: '',
  isEnglish: true,
  ...more,
});

test(
  '[KNOW-17] a model from a folder reads, pools and cuts as it is told, and its vectors are its own',
  { timeout: LONG },
  async () => {
    const folder = modelIn('small');
    const faults: string[] = [];
    const onFault = (error: unknown): void => void faults.push(String(error));
    const choices = [
      own(folder),
      own(folder, { pooling: 'first' }),
      own(folder, { text: 'passage: ', ask: 'query: ' }),
    ].map(chooseModel);
    const made: Float32Array[] = [];
    for (const choice of choices) {
      const embedder = createModelEmbedder(LONG, onFault, choice);
      const [vector] = (await embedder.embed(['Felines sleep most of the day.'])) ?? [];
      made.push(vector ?? new Float32Array());
      await embedder.close();
    }
    const [mean, first, prefixed] = made as [Float32Array, Float32Array, Float32Array];
    expect(made.map((one) => one.length)).toEqual([384, 384, 384]);
    for (const one of made) expect(cosine(one, one)).toBeCloseTo(1, 4);
    expect(cosine(mean, first)).toBeLessThan(0.99);
    expect(cosine(mean, prefixed)).toBeLessThan(0.999);
    expect(new Set(choices.map(({ name }) => name.id)).size).toBe(3);

    const long = 'The release goes out on Friday, when the pipeline is green. '.repeat(20);
    const ruler = createRuler(chooseModel(own(folder)));
    const parts = windowsOf('Releases', [], long, ruler);
    expect(parts.length).toBeGreaterThan(3);
    for (const text of parts) expect(ruler.tokensOf(text)).toBeLessThanOrEqual(62);

    // What another model made is not compared with: the vectors are made anew.
    for (const choice of [undefined, choices[0]]) {
      const embedder = createModelEmbedder(LONG, onFault, choice);
      const search = openSearch({ folder: home, kind: 'documents', embedder, onFault });
      if (choice === undefined) await search.apply(PAGES, []);
      const ask = () =>
        search.find({ workspace_id: 'w1', text: 'when do pets rest?', tags: [], limit: 1 }, LONG, LONG);
      if (choice !== undefined) expect((await ask()).pending).toBeGreaterThan(0);
      await search.settled();
      expect((await ask()).passages[0]?.document_id).toBe('cats');
      await embedder.close();
      await search.close();
    }
    expect(faults).toEqual([]);
  },
);

test('[KNOW-17] a model reads no more tokens than its tokenizer says', () => {
  const config = JSON.parse(readFileSync(join(builtIn, 'tokenizer_config.json'), 'utf8')) as object;
  const folder = modelIn('short', {
    'tokenizer_config.json': JSON.stringify({ ...config, model_max_length: 32 }),
  });
  expect(chooseModel(own(folder)).tokens).toBe(32);
});

test.each([
  ['no folder', join(home, 'nowhere'), {}, 'config.json cannot be read'],
  ['no tokenizer', 'a', { 'tokenizer.json': undefined }, 'tokenizer.json cannot be read'],
  ['half a tokenizer', 'b', { 'tokenizer.json': '{"model":' }, 'tokenizer.json cannot be read'],
  ['no size', 'c', { 'config.json': '{}' }, 'config.json has no hidden_size'],
  ['no weights', 'd', { 'onnx/model_quantized.onnx': undefined }, 'has none of onnx/model_quantized.onnx'],
])('[KNOW-17] %s is said when the model is chosen', (_, name, files, why) => {
  const folder = name.startsWith('/') ? name : modelIn(name, files);
  expect(() => chooseModel(own(folder))).toThrow(why);
  expect(() => chooseModel(own(folder))).toThrow('search.model.folder');
});

test.each([
  ['weights that are none', 'e', { 'onnx/model_quantized.onnx': 'no model' }, /protobuf|parse|load/i],
  ['vectors of another size', 'f', { 'config.json': '{"hidden_size":128}' }, 'no vectors of 128 numbers'],
])(
  '[KNOW-17] %s are said with the first need, and the words are left',
  { timeout: LONG },
  async (_, name, files, why) => {
    const faults: string[] = [];
    const embedder = createModelEmbedder(
      LONG,
      (error) => faults.push(String(error)),
      chooseModel(own(modelIn(name, files))),
    );
    expect(await embedder.embed(['Felines sleep.'])).toBeUndefined();
    expect(await embedder.ask('when do pets rest?')).toBeUndefined();
    expect(embedder.fault).toMatch(why);
    expect(faults).toHaveLength(1);
    await embedder.close();
  },
);
