import { availableParallelism } from 'node:os';

import type { AskedVector, ModelName } from './index-words.ts';
import { BUILT_IN, type ModelChoice } from './model-files.ts';
import { ModelRunner } from './model-runner.ts';
import { ModelMissing } from './model-port.ts';
import { createPassageWorkers } from './passage-workers.ts';

/** Makes vectors of texts. */
export interface Embedder {
  readonly model: ModelName;
  /** The model whose tokens measure the passages; left out where they are not known. */
  readonly measure?: ModelChoice;
  /** A vector for each text. Null: the model does not know the language; undefined: there are none now. */
  embed(texts: readonly string[]): Promise<(Float32Array | null)[] | undefined>;
  /** A question goes before the passages that wait. */
  ask(text: string): Promise<AskedVector | null | undefined>;
  /** Why there will be no vectors any more; undefined while there is no reason to think so. */
  readonly fault: string | undefined;
  close(): Promise<void>;
}

interface Question {
  text: string;
  tries: number;
  resolve: (made: AskedVector | null | undefined) => void;
}

/** So many questions go to the process at once. */
const QUESTIONS_AT_ONCE = 32;
/** Processes that make the vectors of passages; each has 100 to 160 MB while it is there. */
const MOST_MAKERS = 2;
/** They go as soon as nothing is left to do. */
const REST_MS = 5_000;

/**
 * A model in processes of its own. Questions have one for themselves; the vectors of passages are made in others, which
 * step back behind whatever else wants the processor. What ends is started anew; only a model that is not there is given up.
 */
export function createModelEmbedder(
  idleMs: number,
  onFault: (error: unknown) => void,
  choice: ModelChoice = BUILT_IN,
): Embedder {
  let fault: string | undefined;
  const questions: Question[] = [];
  const onEnded = ({ message }: Error): void =>
    onFault(new Error(`texts are found by their words alone until the search model is back: ${message}`));
  const asker = new ModelRunner({ choice, niceness: 0, idleMs, onEnded });
  const makers = createPassageWorkers({
    runners: Array.from(
      { length: Math.min(MOST_MAKERS, availableParallelism()) },
      () => new ModelRunner({ choice, niceness: 15, idleMs: Math.min(idleMs, REST_MS), onEnded }),
    ),
    giveUp,
  });
  let asking: Promise<void> | undefined;

  /** Without the model or its runtime nothing can be made, now or later. */
  function giveUp(error: ModelMissing): void {
    if (fault !== undefined) return;
    fault = error.message;
    onFault(new Error(`texts are found by their words alone until the hub starts anew: ${fault}`));
    endAll();
  }

  function endAll(): void {
    for (const { resolve } of questions.splice(0)) resolve(undefined);
    makers.end();
  }

  async function askAll(): Promise<void> {
    while (questions.length > 0) {
      const some = questions.splice(0, QUESTIONS_AT_ONCE);
      // Nobody waits for a model that may be long in coming back.
      const asked = asker.waitMs > 0 ? undefined : await askSome(some);
      for (const [i, one] of some.entries()) {
        const made = asked?.[i];
        if (made !== undefined) one.resolve(made);
        else if (fault === undefined && one.tries++ === 0 && asker.waitMs === 0) questions.push(one);
        else one.resolve(undefined);
      }
    }
    asking = undefined;
  }

  async function askSome(some: readonly Question[]): Promise<(AskedVector | null)[] | undefined> {
    try {
      return await asker.call<AskedVector | null>(
        'ask',
        some.map(({ text }) => text),
      );
    } catch (error) {
      if (error instanceof ModelMissing) giveUp(error);
      return undefined;
    }
  }

  return {
    model: choice.name,
    measure: choice,
    get fault() {
      return fault;
    },
    embed: (texts) => (fault === undefined ? makers.embed(texts) : Promise.resolve(undefined)),
    ask(text) {
      if (fault !== undefined) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        questions.push({ text, tries: 0, resolve });
        // Those that come at the same time go together.
        asking ??= Promise.resolve().then(askAll);
      });
    },
    async close() {
      fault ??= 'the search is closed';
      endAll();
      await Promise.all([asker.close(), makers.close()]);
    },
  };
}
