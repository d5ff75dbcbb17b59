import type { ManagedAsk, ManagedListener } from '@parley/runtimes';

import type { SessionLink } from '../link/index.ts';

/** What a session asks and nobody has answered yet. */
export interface OpenAsks extends Pick<ManagedListener, 'ask' | 'askClosed'> {
  readonly count: number;
  /** Refuses all that is open. */
  close(reason: string): void;
}

const ENDS = {
  answered: 'it was answered',
  withdrawn: 'the program waits for it no longer',
  child_exited: 'the program is gone',
} as const;

/** The hub's own clock comes first: it says on record that nobody answered. */
const GRACE_MS = 10_000;

/** Puts every question of a session before a person at the hub; without an answer in time it is refused. */
export function createAsks(deps: {
  link: Pick<SessionLink, 'ask' | 'report'>;
  timeoutMs: number;
  onAsk: (news: { ask: 'open' | 'closed'; message: string }) => void;
}): OpenAsks {
  const { link, timeoutMs, onAsk } = deps;
  const openById = new Map<string, { ask: ManagedAsk; settle: AbortController; timer: NodeJS.Timeout }>();

  function settle(id: string, reason: string): void {
    const open = openById.get(id);
    if (open === undefined) return;
    openById.delete(id);
    clearTimeout(open.timer);
    open.settle.abort(new Error(reason));
    onAsk({ ask: 'closed', message: `${open.ask.content?.prompt ?? 'a question'}: ${reason}` });
  }

  /** The program hears a refusal; the hub hears why. */
  function refuse(ask: ManagedAsk, reason: string): void {
    settle(ask.id, reason);
    ask.answer(undefined);
  }

  return {
    get count() {
      return openById.size;
    },
    ask(ask) {
      const controller = new AbortController();
      const timer = setTimeout(() => refuse(ask, 'nobody answered in time'), timeoutMs + GRACE_MS);
      openById.set(ask.id, { ask, settle: controller, timer });
      if (ask.content === undefined)
        link.report({
          event_type: 'warning',
          data: { message: 'refused what is too long to be shown whole' },
        });
      onAsk({ ask: 'open', message: ask.content?.prompt ?? 'a question that cannot be shown whole' });
      void link.ask(ask.content, controller.signal).verdict.then((verdict) => {
        // Settled here first: what a person said meanwhile is on record as too late.
        if (controller.signal.aborted) return;
        if (verdict === undefined) refuse(ask, 'no answer can come');
        else if (!ask.answer(verdict)) settle(ask.id, 'it was settled before');
      });
    },
    askClosed: (id, how) => settle(id, ENDS[how]),
    close(reason) {
      for (const { ask } of openById.values()) refuse(ask, reason);
    },
  };
}
