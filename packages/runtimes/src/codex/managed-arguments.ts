import { parseArgs } from 'node:util';

import { errorText } from '@parley/protocol';
import { RuntimeError } from '../runtime-error.ts';
import type { ThreadOptions } from './backend.ts';

/** What a person says on Codex's command line, as its app-server takes it. */
export interface ManagedCodexArguments {
  /** For the server's own command line. */
  server: string[];
  /** For the thread. */
  thread: Pick<ThreadOptions, 'model' | 'sandbox' | 'approvalPolicy'>;
}

const OPTIONS = {
  config: { type: 'string', short: 'c', multiple: true },
  enable: { type: 'string', multiple: true },
  disable: { type: 'string', multiple: true },
  model: { type: 'string', short: 'm' },
  sandbox: { type: 'string', short: 's' },
  'ask-for-approval': { type: 'string', short: 'a' },
} as const;

/** Reads the flags of `codex` that mean something without its terminal; any other is refused by name. */
export function managedCodexArguments(args: readonly string[]): ManagedCodexArguments {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: OPTIONS,
      strict: true,
      allowPositionals: false,
    });
    const flags = (['config', 'enable', 'disable'] as const).flatMap((name) =>
      (values[name] ?? []).flatMap((value) => [`--${name}`, value]),
    );
    const { model, sandbox, 'ask-for-approval': approvalPolicy } = values;
    return {
      server: flags,
      thread: {
        ...(model === undefined ? {} : { model }),
        ...(sandbox === undefined ? {} : { sandbox }),
        ...(approvalPolicy === undefined ? {} : { approvalPolicy }),
      },
    };
  } catch (error) {
    const known = Object.keys(OPTIONS).map((name) => `--${name}`);
    const message = errorText(error);
    throw new RuntimeError(
      'UNSUPPORTED',
      `${message.split('. ')[0] ?? message}; without a terminal Codex takes ${known.join(', ')}`,
    );
  }
}
