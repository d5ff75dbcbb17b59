import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { isAnswered } from '@parley/core';
import { createModelEmbedder, openSearch, type Search } from '@parley/search';

import { hold, line } from './report.ts';
import { readTasks, type RetrievalTask, wantedSets } from './retrieval-tasks.ts';

const FOUND = 5;
const LONG = 600_000;

/**
 * How often it is said rightly that the documents do not answer a question, without a model that writes answers: every
 * other document is taken away, and what was asked of it with it. What is near by chance decides how many are noticed.
 */
export async function benchSearchAnswers(): Promise<void> {
  const tasks = readTasks();
  if (tasks === undefined)
    return line('search-answers', 'needs BENCH_DATA: a folder with scifact/ and xquad/');
  const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const onFault = (error: unknown): void => line('fault', String(error));
  const embedder = createModelEmbedder(LONG, onFault);
  const search = openSearch({ folder, kind: 'documents', embedder, onFault });
  try {
    const wanted = wantedSets();
    for (const task of tasks.filter(({ name }) => name.startsWith('xquad') && !name.includes(','))) {
      if (!wanted(task.name)) continue;
      const kept = task.documents.filter((_, i) => i % 2 === 0);
      await search.apply(
        kept.map(([document_id, title, body]) => ({
          workspace_id: task.name,
          document_id,
          title,
          body,
          version: '1',
          revision: 1,
          tags: [],
          mime_type: 'text/plain',
        })),
        [],
      );
      await search.settled();
      const there = new Set(kept.map(([id]) => id));
      const asked = task.queries.filter((_, i) => i % 2 === 1);
      const isThere = ({ relevant }: RetrievalTask['queries'][number]): boolean =>
        [...relevant].some((id) => there.has(id));
      const lost = 1 - (await answered(search, task.name, asked.filter(isThere)));
      const noticed =
        1 -
        (await answered(
          search,
          task.name,
          asked.filter((one) => !isThere(one)),
        ));
      const share = (of: number): string => `${(100 * of).toFixed(1)} %`;
      line(`${task.name}, document taken away`, `${share(noticed)} told that it is not in the documents`);
      hold('search-answers.lost', lost, {
        what: `${task.name}, document there`,
        figure: `${share(lost)} told so wrongly`,
      });
    }
  } finally {
    await embedder.close();
    await search.close();
    rmSync(folder, { recursive: true });
  }
}

/** The share of questions that what was found is said to answer. */
async function answered(
  search: Search,
  workspace_id: string,
  asked: RetrievalTask['queries'],
): Promise<number> {
  let count = 0;
  for (const { text } of asked) {
    const { passages } = await search.find({ workspace_id, text, tags: [], limit: FOUND }, LONG, LONG);
    if (isAnswered(passages)) count++;
  }
  return count / asked.length;
}
