import { openModel } from './model.ts';
import { readModelFiles } from './model-files.ts';
import type { Call, Reply } from './thread-port.ts';

// Its runtime can be loaded once per process only, and keeps its memory until the process ends.
process.on('disconnect', () => process.exit(0));

const model = open();
process.on('message', (call: Call) => void answer(call));

async function open() {
  const files = readModelFiles();
  if (files === undefined) throw new Error('there is no search model');
  return openModel(files);
}

async function answer({ id, name, args: [text] }: Call): Promise<void> {
  try {
    const opened = await model;
    const made = await (name === 'ask' ? opened.ask(String(text)) : opened.embed(String(text)));
    process.send?.({ id, ok: made } satisfies Reply);
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? error.message : String(error) } satisfies Reply);
  }
}
