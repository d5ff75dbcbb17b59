import { setImmediate as nextTurn } from 'node:timers/promises';

import type { CommandHandler } from '@parley/client';

import type { OpenSession } from '../session-observer.ts';

const MOST_CHARACTERS = 65_536;

const never = new AbortController().signal;

/** What a person may tell a session through the hub. A turn is taken on and not waited for: its end stands in the journal. */
export function commandsOf(session: OpenSession): Record<string, CommandHandler> {
  return {
    async prompt({ prompt, text = prompt }) {
      if (typeof text !== 'string' || text.trim() === '' || text.length > MOST_CHARACTERS)
        throw refusal('INVALID_COMMAND', `prompt: must be a text of 1 to ${MOST_CHARACTERS} characters`);
      const queued = session.record().status === 'busy';
      const turn = session.turn(text, never);
      // What cannot be taken on is refused at once.
      const early = await Promise.race([turn, nextTurn(undefined)]);
      if (early?.how === 'closed' || early?.how === 'dead')
        throw refusal(
          'RESOURCE_EXHAUSTED',
          'the session takes no more turns: it is closed or its Codex is gone',
        );
      return { accepted: true, queued };
    },
    cancel: () => ({ cancelled: session.interrupt() }),
    status() {
      const { agent_id, identity, team, status, cwd, branch, last_active } = session.record();
      return { agent_id, identity, team, status, cwd, branch, last_active };
    },
  };
}

function refusal(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
