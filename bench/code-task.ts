import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { RetrievalTask } from './retrieval-tasks.ts';

/** A sentence above something exported, and what stands below it up to the end of its block. */
const TOLD =
  /\/\*\* ([^\n]*?) ?\*\/\n(export (?:async )?(?:function|class|const) (\w+)[\s\S]*?\n[}\])]+;?\n)/g;

/** Questions in words about code: the documents are what this repository exports, the question is what is said above each. */
export function codeTask(): RetrievalTask {
  const documents: RetrievalTask['documents'] = [];
  const queries: RetrievalTask['queries'] = [];
  for (const path of sources('packages'))
    for (const [, said = '', code = '', name = ''] of readFileSync(path, 'utf8').matchAll(TOLD)) {
      const id = `${path}#${name}`;
      documents.push([id, '', code]);
      queries.push({ text: said, relevant: new Set([id]) });
    }
  return { name: 'code, told in words', documents, queries, promised: 0 };
}

/** The same code, asked for by a part of its name in words. */
export function nameTask(): RetrievalTask {
  const { documents } = codeTask();
  const wordsOf = (id: string): string => (id.split('#')[1] ?? '').replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ');
  const named = documents.map(([id]) => ({ text: wordsOf(id).toLowerCase(), relevant: new Set([id]) }));
  const queries = named.filter(({ text }) => text.includes(' '));
  return { name: 'code, by the words of its name', documents, queries, promised: 0 };
}

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return /^(?:node_modules|dist)$/.test(entry.name) ? [] : sources(path);
    return /^(?!.*\.test\.).*\.ts$/.test(entry.name) ? [path] : [];
  });
}
