import { type OutputOf } from '@parley/protocol';
import { Argument, type Command } from 'commander';

import { addConnectOptions, connect } from '../../connect.ts';
import { fittedTable } from '../../fitted.ts';
import { oneLine } from '../../harmless.ts';
import { localTime } from '../../message-lines.ts';
import { print } from '../../output.ts';

const STATES = ['listening', 'thinking', 'typing', 'idle', 'offline'] as const;

type Present = OutputOf<'list_presence'>['participants'][number];

/** `parley thread presence`: who is there, or how you are. */
export function addPresence(thread: Command): void {
  addConnectOptions(thread.command('presence <thread>'))
    .description('who is present and how; with a state, say how you are')
    .addArgument(new Argument('[state]', 'how you are; it fades by itself').choices(STATES))
    .option('--persist', 'write the change to the log')
    .addHelpText('after', '\nExample:\n  parley thread presence th_01… thinking --as alice')
    .action(
      async (
        thread_id: string,
        state: (typeof STATES)[number] | undefined,
        { persist }: { persist?: boolean },
        command: Command,
      ) => {
        const { client, json } = await connect(command);
        if (state === undefined) {
          const found = await client.list_presence({ thread_id });
          print({ json }, found, () =>
            fittedTable(found.participants.map(toRow), [{ most: 30 }, {}, { spare: true }]),
          );
          return;
        }
        const set = await client.set_presence({ thread_id, state, ...(persist === true ? { persist } : {}) });
        print({ json }, set, () => [`${state} until ${localTime(set.expires_at)}`]);
      },
    );
}

function toRow({ agent_id, state, since, profile = {}, muted }: Present): string[] {
  const { nickname, client, model, roles = [] } = profile;
  return [
    agent_id,
    state,
    since === null ? '' : `since ${localTime(since)}`,
    muted ? 'muted' : '',
    oneLine([nickname, client, model, ...roles].filter(Boolean).join(' ')),
  ];
}
