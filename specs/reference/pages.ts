import { commandLinePage } from './command-line.ts';
import { envelopePage } from './envelope.ts';
import { errorsPage } from './errors.ts';
import { livePage } from './live.ts';
import { operationPages } from './operations.ts';

/** Every page of the reference by its name in `docs/reference`. */
export async function referencePages(): Promise<Record<string, string>> {
  const pages = {
    ...(await operationPages()),
    'live.md': livePage(),
    'envelope.md': envelopePage(),
    'errors.md': errorsPage(),
    'cli.md': await commandLinePage(),
  };
  return Object.fromEntries(
    Object.entries(pages).map(([name, text]) => [name, `${text.replaceAll(/\n{3,}/g, '\n\n').trim()}\n`]),
  );
}
