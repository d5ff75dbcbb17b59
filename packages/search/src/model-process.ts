import { getPriority, setPriority } from 'node:os';

import { openModel } from './model.ts';
import { type ModelChoice, readTokenizer, readWeights } from './model-files.ts';
import { createReader } from './model-reader.ts';
import type { ThreadCall, Reply } from './thread-port.ts';

// Its runtime can be loaded once per process only, and keeps its memory until the process ends.
process.on('disconnect', () => process.exit(0));

// The hub starts this process with just this.
const { choice, niceness } = JSON.parse(process.argv[2] ?? '{}') as { choice: ModelChoice; niceness: number };
if (niceness > getPriority()) setPriority(niceness);

const model = open();
// Whoever asks is told of it.
model.catch(() => {});
process.on('message', (call: ThreadCall) => void answer(call));

async function open() {
  const files = readTokenizer(choice.folder);
  const weights = readWeights(choice.folder);
  if (files === undefined || weights === undefined) throw new Error('there is no search model');
  return openModel(weights, createReader(files, choice), choice);
}

async function answer({ id, name, args: [texts] }: ThreadCall): Promise<void> {
  let isUnavailable = true;
  try {
    const opened = await model;
    isUnavailable = false;
    // The hub's own port sends texts.
    const made = await opened[name === 'ask' ? 'ask' : 'embed'](texts as string[]);
    process.send?.({ id, ok: made } satisfies Reply);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.message : String(thrown);
    process.send?.({ id, error, isUnavailable } satisfies Reply);
  }
}
