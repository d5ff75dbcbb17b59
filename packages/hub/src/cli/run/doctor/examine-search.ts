import { join } from 'node:path';

import { checkIndex, checkQdrant, INDEX_FILES } from '@parley/search';

import type { Config } from '../../../config/schema.ts';
import { readKey } from '../../../config/secret.ts';
import { createEmbedder } from '../../../searches.ts';
import type { Check } from './check.ts';
import { oneLine } from '../../harmless.ts';

/** Whether texts can be found by their meaning, and where their index is. */
export async function checkSearch(config: Config): Promise<Check[]> {
  return [...checkIndexes(config), await checkModel(config), ...(await checkPlace(config))];
}

/** An index that lacks something is thrown away by whoever opens it next; until then it must not be believed. */
function checkIndexes({ data, search: { qdrant } }: Config): Check[] {
  if (qdrant.url !== '') return [];
  return Object.entries(INDEX_FILES).flatMap(([kind, file]) => {
    const problem = checkIndex(join(data, file));
    if (problem === undefined) return [];
    const detail = `the index of ${kind} lacks something and is made anew by the next start: ${oneLine(problem)}`;
    return [{ name: 'search index', ok: false, detail }];
  });
}

/** The hub does without the model that comes with it; an endpoint or a model that somebody named should answer. */
async function checkModel(config: Config): Promise<Check> {
  const name = 'search model';
  const faults: unknown[] = [];
  try {
    const embedder = createEmbedder(config, (error) => faults.push(error));
    const made = await embedder.ask('Is the model there?');
    await embedder.close();
    if (made !== undefined) return { name, ok: true, detail: embedder.model.id };
  } catch (error) {
    faults.push(error);
  }
  const why = oneLine(faults.map(messageOf).join('; '));
  const { embeddings, model } = config.search;
  const isNamed = embeddings.endpoint !== '' || model.folder !== '';
  return { name, ok: !isNamed, detail: `words alone are compared: ${why}` };
}

async function checkPlace({ search: { qdrant } }: Config): Promise<Check[]> {
  const { url, timeout_ms: timeoutMs } = qdrant;
  if (url === '') return [];
  const name = 'qdrant';
  try {
    await checkQdrant({ url, key: readKey(qdrant, 'search.qdrant'), timeoutMs });
    return [{ name, ok: true, detail: url }];
  } catch (error) {
    return [{ name, ok: false, detail: oneLine(messageOf(error)) }];
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
