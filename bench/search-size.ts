import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';

import { createModelEmbedder, type Embedder, openSearch, type Search } from '@parley/search';

import { hold, line } from './report.ts';
import { readTasks } from './retrieval-tasks.ts';

/** How many passages, and within how many milliseconds 95 of 100 questions are to be answered. */
const SIZES = [
  [10_000, 50],
  [100_000, 150],
] as const;
const LEGS = ['keyword', 'vectors', 'hybrid'] as const;
const AT_ONCE = 200;
const workspace_id = 'many';

/**
 * The time a question takes among many passages, and how long the event loop was kept waiting. Each passage is two
 * sentences of SciFact picked at random; its vector is made up, as making 100,000 takes hours. Questions are real.
 */
export async function benchSearchSize(): Promise<void> {
  const tasks = readTasks();
  if (tasks === undefined) return line('search-size', 'needs BENCH_DATA, as `search` does');
  const texts = tasks.slice(0, 2).flatMap(({ documents }) => documents.map(([, , text]) => text));
  const sentences = texts.flatMap((text) => text.split(/(?<=[.!?]) /));
  const questions = tasks.slice(0, 2).flatMap(({ queries }) => queries.slice(0, 150).map(({ text }) => text));
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const onFault = (error: unknown): void => line('fault', String(error));
  const model = createModelEmbedder(300_000, onFault);
  const search = openSearch({ folder, kind: 'documents', embedder: withMadeUpVectors(model), onFault });
  const random = createRandom(7);
  const sentence = (): string => sentences[Math.floor(random() * sentences.length)] ?? '';
  let size = 0;
  try {
    for (const [wanted, promised] of SIZES) {
      const delay = monitorEventLoopDelay({ resolution: 1 });
      delay.enable();
      const started = performance.now();
      for (; size < wanted; size += AT_ONCE)
        await search.apply(
          Array.from({ length: AT_ONCE }, (_, i) => page(size + i, `${sentence()} ${sentence()}`)),
          [],
        );
      await search.settled();
      line(
        `${wanted} passages, building`,
        `${((performance.now() - started) / 1_000).toFixed(1)} s; ${reported(delay)}`,
      );
      await measure(search, wanted, promised, questions);
    }
  } finally {
    await search.close();
    await model.close();
    rmSync(folder, { recursive: true });
  }
}

async function measure(search: Search, size: number, promised: number, questions: string[]): Promise<void> {
  for (const leg of LEGS) {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    // The first question reads all vectors into memory.
    await search.find({ workspace_id, text: 'first', tags: [], limit: 5, leg }, 60_000);
    delay.enable();
    const times: number[] = [];
    const costs: number[] = [];
    for (const text of questions) {
      const start = performance.now();
      const spent = process.cpuUsage();
      await search.find({ workspace_id, text, tags: [], limit: 5, leg }, 60_000);
      times.push(performance.now() - start);
      const { user, system } = process.cpuUsage(spent);
      costs.push((user + system) / 1_000);
    }
    const at = (all: number[], part: number): string =>
      (all.toSorted((a, b) => a - b)[Math.floor(all.length * part)] ?? 0).toFixed(1);
    const cpu = `of a processor (without the model) p50 ${at(costs, 0.5)} ms, p95 ${at(costs, 0.95)} ms`;
    const loop = leg === 'hybrid' ? `; ${reported(delay)}` : '';
    const figure = `p50 ${at(times, 0.5)} ms, p95 ${at(times, 0.95)} ms; ${cpu}${loop}`;
    const what = `${size} passages, ${leg}`;
    if (leg === 'hybrid') hold('search-size.p95', Number(at(times, 0.95)) / promised, { what, figure });
    else line(what, figure);
  }
}

function reported(delay: ReturnType<typeof monitorEventLoopDelay>): string {
  delay.disable();
  return `event loop late by p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms, at most ${(delay.max / 1e6).toFixed(1)} ms`;
}

function page(i: number, body: string) {
  const fixed = { workspace_id, version: '1', revision: 1, title: '', tags: [], mime_type: 'text/plain' };
  return { ...fixed, document_id: `s${i}`, body };
}

function withMadeUpVectors(model: Embedder): Embedder {
  const random = createRandom(11);
  const { dimensions } = model.model;
  const vector = (): Float32Array => {
    const made = Float32Array.from({ length: dimensions }, () => random() - 0.5);
    const length = Math.sqrt(made.reduce((sum, x) => sum + x * x, 0));
    return made.map((x) => x / length);
  };
  return { ...model, fault: undefined, embed: (texts) => Promise.resolve(texts.map(vector)) };
}

/** The same numbers in every run. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
