import { createHash } from 'node:crypto';

import type { ModelName } from './index-words.ts';
import { VERSION } from './open-index.ts';
import { type Qdrant, QdrantError } from './qdrant.ts';

/** The collection of one index. */
export interface QdrantCollection {
  /** Its name; it is made with the first need, but not anew once it was lost. */
  name(): Promise<string>;
  /** Sees to it that it is there, be it empty. */
  prepare(): Promise<void>;
  /** It was found to be gone. */
  lost(): void;
}

export interface CollectionChoice {
  /** Tells this hub's collections from those of others. */
  owner: string;
  /** What is kept in it. */
  kind: string;
  model: ModelName;
}

const INDEXES = {
  workspace: { type: 'keyword', is_tenant: true },
  document: 'keyword',
  revision: 'integer',
  tags: 'keyword',
  group: 'keyword',
  embedded: 'bool',
} as const;

/** What is kept by another model or in another form stands under another name, and goes when this one is made. */
export function createCollection(call: Qdrant, { owner, kind, model }: CollectionChoice): QdrantCollection {
  const family = `parley_${owner}_${kind}_`;
  const form = createHash('sha256')
    .update(JSON.stringify([VERSION, model, 'several vectors']))
    .digest('hex')
    .slice(0, 8);
  const name = `${family}${form}`;
  let made: Promise<void> | undefined;
  let isLost = false;

  async function make(): Promise<void> {
    const { exists } = await call<{ exists: boolean }>('GET', `/collections/${name}/exists`);
    if (!exists) await create();
    for (const [field_name, field_schema] of Object.entries(INDEXES))
      await call('PUT', `/collections/${name}/index?wait=true`, { field_name, field_schema });
    const { collections } = await call<{ collections: { name: string }[] }>('GET', '/collections');
    for (const old of collections)
      if (old.name.startsWith(family) && old.name !== name) await call('DELETE', `/collections/${old.name}`);
  }

  async function create(): Promise<void> {
    try {
      await call('PUT', `/collections/${name}`, {
        vectors: {
          dense: {
            size: model.dimensions,
            distance: 'Cosine',
            // A passage has a vector for each of its parts, and is as near as the nearest.
            multivector_config: { comparator: 'max_sim' },
          },
        },
        sparse_vectors: { words: { modifier: 'idf' } },
      });
    } catch (error) {
      if (!(error instanceof QdrantError) || error.status !== 409) throw error;
    }
  }

  function prepare(): Promise<void> {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  }

  return {
    async name() {
      if (!isLost) await prepare();
      return name;
    },
    async prepare() {
      await prepare();
      isLost = false;
    },
    lost() {
      made = undefined;
      isLost = true;
    },
  };
}
