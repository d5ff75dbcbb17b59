import { join } from 'node:path';

import type { Inbox, InboxAnswer, InboxMessage, InboxState } from '../inbox.ts';
import { type LiveCodex, openLiveCodex } from './live-codex.ts';

export interface CodexInboxOptions {
  /** CODEX_HOME. */
  home: string;
  /** The thread, as soon as it is known. */
  threadId: () => string | undefined;
  clientInfo: { name: string; version: string };
  requestMs: number;
  /** Why this release is not to be spoken to; undefined where it is. */
  refuse: (version: string | undefined) => string | undefined;
}

/** Where a Codex that people have open listens. */
export function codexSocket(home: string): string {
  return join(home, 'app-server-control', 'app-server-control.sock');
}

/** The way into one thread of an open Codex: its own queue takes the prompt, the person's draft stays. */
export function codexInbox(options: CodexInboxOptions): Inbox {
  const { home, clientInfo, requestMs } = options;

  async function inside<T>(
    act: (codex: LiveCodex, threadId: string) => Promise<T>,
    shut: (reason: string) => T,
  ) {
    const threadId = options.threadId();
    if (threadId === undefined) return shut('thread_unknown');
    const codex = await openLiveCodex({ socket: codexSocket(home), clientInfo, requestMs }).catch(
      () => undefined,
    );
    if (codex === undefined) return shut('no_open_codex');
    try {
      const refused = options.refuse(codex.version);
      return refused === undefined ? await act(codex, threadId) : shut(refused);
    } finally {
      codex.close();
    }
  }

  return {
    state: () =>
      inside<InboxState>(
        async (codex, id) => stateOf(await codex.status(id)),
        (reason) => ({ state: 'closed', reason }),
      ),
    send: ({ prompt, mark, again, force, proofMs }: InboxMessage) =>
      inside<InboxAnswer>(
        async (codex, id) => {
          if (again && (await codex.holds(id, mark))) return { delivered: true, proof: 'runtime_record' };
          const at = stateOf(await codex.status(id));
          if (at.state === 'closed') return { delivered: false, reason: at.reason };
          if (at.state === 'busy' && !force) return { delivered: false, reason: at.reason, deferred: true };
          const given = await codex.prompt(id, { text: prompt, mark, steer: force });
          const by = await within(given.arrived, proofMs);
          if (by === undefined) return { delivered: false, reason: 'no_proof_in_time' };
          return { delivered: true, proof: by === 'item' ? 'runtime_record' : 'runtime_status' };
        },
        (reason) => ({ delivered: false, reason }),
      ),
  };
}

function stateOf(status: string | undefined): InboxState {
  if (status === 'idle') return { state: 'idle' };
  if (status === 'active') return { state: 'busy', reason: 'session_busy' };
  return { state: 'closed', reason: 'session_not_open' };
}

async function within<T>(event: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, ms, undefined)));
  try {
    return await Promise.race([event, late]);
  } finally {
    clearTimeout(timer);
  }
}
