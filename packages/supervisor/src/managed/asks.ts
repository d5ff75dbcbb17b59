import { type ManagedAsk, type ManagedListener, publicText } from '@parley/runtimes';

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

interface OpenAsk {
  ask: ManagedAsk;
  settle: AbortController;
  timer: NodeJS.Timeout;
  /** What a person has said at the hub. */
  said?: string;
}

/** The hub's own clock comes first: it says on record that nobody answered. */
const GRACE_MS = 10_000;

/** Puts every question of a session before a person at the hub; without an answer in time it is refused. */
export function createAsks(deps: {
  link: Pick<SessionLink, 'ask' | 'report'>;
  timeoutMs: number;
  onAsk: (news: { ask: 'open' | 'closed'; message: string; command?: string; cwd?: string }) => void;
}): OpenAsks {
  const { link, timeoutMs, onAsk } = deps;
  const openById = new Map<string, OpenAsk>();

  function settle(id: string, reason: string): void {
    const open = openById.get(id);
    if (open === undefined) return;
    openById.delete(id);
    clearTimeout(open.timer);
    open.settle.abort(new Error(reason));
    const { command, prompt = 'a question' } = open.ask.content ?? {};
    const what = publicText((command ?? prompt).trim().replaceAll(/\s+/g, ' '), 120);
    onAsk({ ask: 'closed', message: `${reason}: ${what}` });
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
      const open: OpenAsk = { ask, settle: controller, timer };
      openById.set(ask.id, open);
      if (ask.content === undefined)
        link.report({
          event_type: 'warning',
          data: { message: 'refused what is too long to be shown whole' },
        });
      const { prompt = 'a question that cannot be shown whole', command, cwd } = ask.content ?? {};
      onAsk({
        ask: 'open',
        message: prompt,
        ...(command === undefined ? {} : { command }),
        ...(cwd === undefined ? {} : { cwd }),
      });
      void link.ask(ask.content, controller.signal).verdict.then((verdict) => {
        // Settled here first: what a person said meanwhile is on record as too late.
        if (controller.signal.aborted) return;
        if (verdict === undefined) return refuse(ask, 'no answer can come');
        open.said = `${verdict.decision} by ${verdict.by}`;
        if (!ask.answer(verdict)) settle(ask.id, 'it was settled before');
      });
    },
    askClosed: (id, how) => settle(id, (how === 'answered' && openById.get(id)?.said) || ENDS[how]),
    close(reason) {
      for (const { ask } of openById.values()) refuse(ask, reason);
    },
  };
}
