import {
  type DeferReason,
  type Delivery,
  type DeliveryEvidence,
  ParleyError,
  type ProgramKind,
} from '@parley/protocol';

import { readComposer } from './composer.ts';
import { isAtRest } from './is-at-rest.ts';
import type { Pty } from './open-pty.ts';
import type { Screen } from './open-screen.ts';
import { type ProgramState, readState } from './program-state.ts';
import { BRACKETED_PASTE } from './terminal-modes.ts';
import { makeTypeable } from './typeable.ts';
import type { Typing } from './typing.ts';

/** When a text may be typed, in milliseconds. */
export interface DoorPatience {
  /** How often a deferred text is looked at again. */
  recheckMs: number;
  /** How long the person must have pressed no key. */
  quietMs: number;
  /** How long a person may keep a text waiting. */
  maxDeferMs: number;
  /** How long anything else may. */
  expireMs: number;
}

export interface DoorDeps {
  pty: Pty;
  screen: Screen;
  kind: ProgramKind;
  /** Names the program in what people read. */
  program: string;
  typing: Typing;
  patience: DoorPatience;
  /** Keeps the person's keys back until the returned function is called. */
  holdKeys: () => () => void;
  /** Something outside the screen is in the way: somebody types from elsewhere. */
  hindrance: () => DeferReason | undefined;
  /** Monotonic milliseconds. */
  now: () => number;
  /** Milliseconds of the wall clock, for people to read. */
  wallClock: () => number;
}

interface DeliveryRequest {
  delivery_id: string;
  text: string;
  mode: 'when_quiet' | 'force';
}

/** The way in which text reaches a program at a terminal: only when nothing of the person's is in the way. */
export interface Door {
  /** Begins a delivery, or finds the one of this id; gives how it stands after at most `waitMs`. Throws how it failed. */
  deliver(request: DeliveryRequest, waitMs: number): Promise<Delivery>;
  /** Takes back what was not typed yet. */
  cancel(deliveryId: string): boolean;
  deferred(): Delivery[];
  state(): ProgramState;
  hasDraft(): boolean;
  /** Why the program takes no text just now, whoever wants it; undefined where it does. */
  noPrompt(): { detail: string; starting: boolean } | undefined;
  /** The program has written something. */
  noteOutput(): void;
}

interface Entry {
  request: DeliveryRequest;
  text: string;
  altered: string[];
  since: number;
  humanSince: number | undefined;
  outcome: Promise<Delivery>;
  settle: (delivery: Delivery) => void;
  fail: (error: ParleyError) => void;
  open: boolean;
}

interface Hindrance {
  reason: DeferReason;
  detail: string;
}

/** How long the program may take to show what was pasted, and to take it. */
const ACT_MS = 10_000;
/** How long a program may be at rest after a paste and write nothing before it counts as one that does not read. */
const UNREAD_MS = 700;
/** So often in a row it must be seen so: what it has written may not have been read here. */
const LOOKS = 2;
/** How long a program may take to come to its first prompt. */
const STARTING_MS = 10_000;
/** After output, how long to wait before a deferred text is looked at again. */
const CALM_MS = 100;
/** How fresh a key must be to count although the screen does not show it yet. */
const FRESH_MS = 2_000;
/** When a program has not heeded Enter for so long, it is pressed once more. */
const REPEAT_MS = 3_000;
const KEPT = 1_000;
/** So much of a text is looked for on the screen. */
const MARK_CHARS = 40;

/** Opens the door of one program. */
export function createDoor(deps: DoorDeps): Door {
  const { pty, screen, kind, program, typing, patience, now } = deps;
  const entriesById = new Map<string, Entry>();
  const startedAt = now();
  let lastOutput = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let due = Infinity;
  let looking = false;
  let lookAgain = false;
  const waiters = new Set<() => void>();

  const pending = (): Entry[] => [...entriesById.values()].filter(({ open }) => open);
  const state = (): ProgramState => readState(kind, screen, now() - lastOutput);
  void pty.exited.then(() => lookSoon(0));

  function hasDraft(): boolean {
    const composer = readComposer(kind, screen);
    if (composer === undefined) return typing.hasDraft;
    return composer.text !== '' || (typing.hasDraft && typing.quietMs() < FRESH_MS);
  }

  /** What is in the way of typing just now. */
  function hindranceOf(mode: DeliveryRequest['mode']): Hindrance | undefined {
    const elsewhere = deps.hindrance();
    if (elsewhere !== undefined) return { reason: elsewhere, detail: DETAIL[elsewhere] };
    const { state: at, detail } = state();
    if (at === 'blocked')
      return {
        reason: 'blocked',
        detail: `${program} waits for an answer${detail === undefined ? '' : `: ${detail}`}`,
      };
    const quietMs = typing.quietMs();
    if (mode === 'when_quiet' && quietMs < patience.quietMs)
      return {
        reason: 'human_input_busy',
        detail: `a person pressed a key ${Math.round(quietMs / 1_000)} s ago`,
      };
    const hidden = hiddenPrompt();
    if (hasDraft()) return { reason: 'human_input_busy', detail: 'a draft stands at the prompt' };
    if (mode === 'when_quiet' && at === 'working')
      return { reason: 'working', detail: `${program} is at work` };
    return hidden === undefined ? undefined : { reason: 'no_prompt', detail: hidden };
  }

  /** Why no text can be taken, whoever wants it. */
  function hiddenPrompt(): string | undefined {
    if (!screen.modes.isOn(BRACKETED_PASTE)) return `${program} takes no pasted text just now`;
    if (kind === 'bash' && pty.foreground() !== 'bash') return `${pty.foreground()} runs in the shell`;
    if ((kind === 'codex' || kind === 'claude') && readComposer(kind, screen) === undefined)
      return `the input line of ${program} is not on the screen`;
    return undefined;
  }

  function lookSoon(ms: number): void {
    if (now() + ms >= due) return;
    due = now() + ms;
    clearTimeout(timer);
    timer = setTimeout(() => void look(), ms);
  }

  async function look(): Promise<void> {
    due = Infinity;
    lookAgain = looking;
    if (looking) return;
    looking = true;
    for (const entry of pending()) await consider(entry);
    looking = false;
    if (pending().length === 0 && !lookAgain) return;
    const deadlines = pending().flatMap(({ humanSince }) =>
      humanSince === undefined ? [] : [humanSince + patience.maxDeferMs - now()],
    );
    lookSoon(lookAgain ? 0 : Math.max(1, Math.min(patience.recheckMs, ...deadlines)));
  }

  async function consider(entry: Entry): Promise<void> {
    await screen.settled();
    if (!entry.open) return;
    if (pty.ended) return entry.fail(failed('program_ended', `${program} has ended; nothing was typed`));
    const found = hindranceOf(entry.request.mode);
    if (found === undefined) return type(entry);
    entry.humanSince = found.reason === 'human_input_busy' ? (entry.humanSince ?? now()) : undefined;
    const waited = now() - (entry.humanSince ?? entry.since);
    if (entry.humanSince !== undefined && waited >= patience.maxDeferMs) {
      const message = `${found.detail}, and it was not to be disturbed for ${Math.round(waited / 1_000)} s; nothing was typed`;
      return entry.fail(
        new ParleyError('HUMAN_INPUT_COLLISION', message, {
          reason: found.reason,
          waited_ms: Math.round(waited),
        }),
      );
    }
    if (waited >= patience.expireMs)
      return entry.fail(failed('expired', `${found.detail}; it waited too long, and nothing was typed`));
  }

  /** Pastes the text, sees that it stands at the prompt and alone there, presses Enter, and sees what becomes of it. */
  async function type(entry: Entry): Promise<void> {
    const { text } = entry;
    const evidence: DeliveryEvidence[] = [];
    const settle = (result: 'submitted' | 'typed', detail?: string): void =>
      entry.settle({ ...report(entry), result, evidence, ...(detail === undefined ? {} : { detail }) });
    entry.open = false;
    const wasWorking = state().state === 'working';
    const switches = screen.pasteSwitches;
    const release = deps.holdKeys();
    try {
      pty.write(`\u001b[200~${text}\u001b[201~`);
      evidence.push('typed');
      const isUnread = watchUnread();
      if ((await until(() => shows(text) ?? (isUnread() ? false : undefined))) !== true)
        return settle('typed', 'it did not appear at the prompt, so Enter was not pressed');
      evidence.push('seen');
      pty.write('\r');
      evidence.push('entered');
    } finally {
      release();
    }
    const enteredAt = now();
    let isRepeated = false;
    const taken = await until(() => {
      if (kind === 'bash') return screen.pasteSwitches >= switches + 2 ? 'prompt_again' : undefined;
      const composer = readComposer(kind, screen);
      if (composer !== undefined && !holds(composer.text, text)) return 'prompt_empty';
      const at = state();
      if (!wasWorking && at.state === 'working' && at.source !== 'output') return 'working';
      // A program that is still starting shows what is pasted and does not heed Enter yet.
      const isIgnored =
        composer !== undefined && now() - enteredAt > REPEAT_MS && typing.quietMs() > REPEAT_MS;
      if (isIgnored && !isRepeated) {
        isRepeated = true;
        pty.write('\r');
      }
      return undefined;
    });
    if (taken === undefined) return settle('typed', 'Enter was pressed; nothing shows that it was taken');
    evidence.push(taken);
    settle('submitted');
  }

  /** Tells whether the program has shown no sign of reading since now. */
  function watchUnread(): () => boolean {
    const since = now();
    let looks = 0;
    return () => {
      const isStill = lastOutput < since && now() - since >= UNREAD_MS && isAtRest(pty.pid);
      looks = isStill ? looks + 1 : 0;
      return looks >= LOOKS;
    };
  }

  function shows(text: string): true | undefined {
    if (kind === 'codex' || kind === 'claude') {
      const composer = readComposer(kind, screen);
      return composer !== undefined && holds(composer.text, text) ? true : undefined;
    }
    return stands(screen.view().lines.join('\n'), text) ? true : undefined;
  }

  /** Waits until something is so, looking after each piece of output. */
  async function until<T>(find: () => T | undefined): Promise<T | undefined> {
    const end = now() + ACT_MS;
    for (;;) {
      await screen.settled();
      const found = find();
      if (found !== undefined || now() >= end || pty.ended) return found;
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(clock);
          waiters.delete(wake);
          resolve();
        };
        const clock = setTimeout(wake, CALM_MS);
        waiters.add(wake);
      });
    }
  }

  function report({
    request,
    altered,
    since,
  }: Entry): Pick<Delivery, 'delivery_id' | 'altered' | 'waited_ms'> {
    return { delivery_id: request.delivery_id, altered, waited_ms: Math.round(now() - since) };
  }

  /** How it stands now: what is in its way, whether or not it was its turn yet. */
  function standing(entry: Entry): Delivery {
    const inTheWay: Hindrance | undefined = entry.open ? hindranceOf(entry.request.mode) : undefined;
    const { reason, detail } = inTheWay ?? {
      reason: 'working' as const,
      detail: entry.open ? 'another text is typed first' : 'it is being typed',
    };
    const quietIn = reason === 'human_input_busy' ? patience.quietMs - typing.quietMs() : 0;
    return {
      ...report(entry),
      result: 'deferred',
      evidence: [],
      detail,
      defer_reason: reason,
      deferred_until: new Date(deps.wallClock() + Math.max(patience.recheckMs, quietIn)).toISOString(),
    };
  }

  function begin(request: DeliveryRequest): Entry {
    const { text, altered } = makeTypeable(kind, request.text);
    if (text === '')
      throw new ParleyError('VALIDATION_ERROR', 'text: nothing is left of it without control characters', {
        field: 'text',
      });
    let entry!: Entry;
    const outcome = new Promise<Delivery>((resolve, reject) => {
      const ended =
        <A>(act: (value: A) => void) =>
        (value: A): void => {
          entry.open = false;
          act(value);
        };
      entry = {
        request,
        text,
        altered,
        since: now(),
        humanSince: undefined,
        // Set below, before anybody sees it: the promise is still being made.
        outcome: Promise.resolve() as never,
        settle: ended(resolve),
        fail: ended(reject),
        open: true,
      };
    });
    outcome.catch(() => {});
    entry.outcome = outcome;
    entriesById.set(request.delivery_id, entry);
    for (const [id, { open }] of entriesById) {
      if (entriesById.size <= KEPT) break;
      if (!open) entriesById.delete(id);
    }
    return entry;
  }

  return {
    async deliver(request, waitMs) {
      if (kind === 'closed')
        throw failed(
          'program_closed',
          `${program} is not known to take text; run it with --kind prompt if it does`,
        );
      const known = entriesById.get(request.delivery_id);
      if (known !== undefined && known.request.text !== request.text)
        throw new ParleyError('IDEMPOTENCY_CONFLICT', 'delivery_id: another text was delivered under it', {
          field: 'delivery_id',
        });
      if (known === undefined && pending().length >= KEPT)
        throw new ParleyError('UNAVAILABLE', 'too many texts wait for this terminal');
      const entry = known ?? begin(request);
      lookSoon(0);
      let clock: NodeJS.Timeout | undefined;
      const late = new Promise<undefined>((resolve) => (clock = setTimeout(resolve, waitMs, undefined)));
      try {
        const outcome = await Promise.race([entry.outcome, late]);
        if (outcome !== undefined) return outcome;
        await screen.settled();
        return standing(entry);
      } finally {
        clearTimeout(clock);
      }
    },
    cancel(deliveryId) {
      const entry = entriesById.get(deliveryId);
      if (entry?.open !== true) return false;
      entry.fail(failed('cancelled', 'it was taken back; nothing was typed'));
      return true;
    },
    deferred: () => pending().map(standing),
    state,
    hasDraft,
    noPrompt() {
      const detail = hiddenPrompt();
      return detail === undefined ? undefined : { detail, starting: now() - startedAt < STARTING_MS };
    },
    noteOutput() {
      lastOutput = now();
      for (const wake of waiters) wake();
      if (pending().some(({ humanSince }) => humanSince === undefined)) lookSoon(CALM_MS);
    },
  };
}

const DETAIL: Record<DeferReason, string> = {
  taken_over: 'a person types from elsewhere',
  human_input_busy: '',
  working: '',
  blocked: '',
  no_prompt: '',
};

/** True when an input line has the text in it, or the sign by which agents show a long paste. */
function holds(line: string, text: string): boolean {
  return stands(line, text) || /^\[Pasted (?:text|Content) /.test(line);
}

/** True when the text stands there, by its beginning or its end. */
function stands(place: string, text: string): boolean {
  const there = squeeze(place);
  const wanted = squeeze(text);
  return there.includes(wanted.slice(0, MARK_CHARS)) || there.includes(wanted.slice(-MARK_CHARS));
}

function squeeze(text: string): string {
  return text.replaceAll(/\s+/gu, '');
}

function failed(reason: string, message: string): ParleyError {
  return new ParleyError('WAKE_FAILED', message, { reason });
}
