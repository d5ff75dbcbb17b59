import type { TerminalOutput } from '@parley/protocol';
import { APP_CURSOR, BRACKETED_PASTE, type Screen } from '@parley/runtimes';

/** What is told of a screen, beside how it stands with the lock of whoever asks. */
type ScreenNews = Omit<TerminalOutput<'terminal_watch'>, 'yours'>;

/** A screen as others follow it: they ask for what has changed since they asked last. Nothing is done while nobody asks. */
export interface ScreenWatch {
  /** What has changed since that version, as soon as something has; after so long also when nothing has. */
  next(since: string | undefined, waitMs: number): Promise<ScreenNews>;
  /** Something may look different now. */
  note(): void;
  /** The program has ended: nobody waits any longer. */
  end(): void;
}

export interface ScreenWatchDeps {
  screen: Pick<Screen, 'settled' | 'view' | 'looks' | 'modes'>;
  /** What stands beside the screen. */
  beside: () => Pick<ScreenNews, 'state' | 'lock'>;
  now: () => number;
  newId: () => string;
}

/** However much a program writes, its screen is read no oftener than this; and so long after its first word. */
const FRAME_MS = 40;
const FIRST_MS = 6;
/** More than this is told in several answers: a message to the hub has its bounds. */
const ANSWER_CHARS = 60_000;
const COLS = 1_000;
const ROWS = 500;
const LINE_CHARS = 4_000;
const RUN_CHARS = 20_000;
const TITLE_CHARS = 200;
/** Of more that wait the oldest is answered as it stands. */
const MOST_WAITING = 64;

interface SeenLine {
  text: string;
  runs: string;
  version: number;
}

/** Follows one screen for all who look at it. */
export function createScreenWatch({ screen, beside, now, newId }: ScreenWatchDeps): ScreenWatch {
  const epoch = newId().slice(0, 8);
  const waiting = new Set<() => void>();
  let lines: SeenLine[] = [];
  let head = '';
  let headVersion = 0;
  let version = 0;
  let lookedAt = -Infinity;
  let timer: NodeJS.Timeout | undefined;
  let ended = false;

  /** What stands around the lines. */
  function around(): Omit<ScreenNews, 'version' | 'whole' | 'lines'> {
    const { cols, rows, cursor, title } = screen.view();
    return {
      cols: Math.min(cols, COLS),
      rows: Math.min(rows, ROWS),
      cursor,
      title: title.slice(0, TITLE_CHARS),
      modes: { app_cursor: screen.modes.isOn(APP_CURSOR), paste: screen.modes.isOn(BRACKETED_PASTE) },
      ...beside(),
      ended,
    };
  }

  /** Reads the screen; what has changed since the last time is of a new version. */
  async function look(): Promise<void> {
    await screen.settled();
    lookedAt = now();
    const next = version + 1;
    const seen = JSON.stringify(around());
    if (seen !== head) [head, headVersion] = [seen, next];
    lines = screen
      .looks()
      .slice(0, ROWS)
      .map(({ text, runs }, y) => {
        const fits = text.length <= LINE_CHARS && runs.length <= RUN_CHARS;
        const line = fits ? { text, runs } : { text: text.slice(0, LINE_CHARS), runs: '' };
        const before = lines[y];
        const isSame = before !== undefined && before.text === line.text && before.runs === line.runs;
        return isSame ? before : { ...line, version: next };
      });
    if (headVersion === next || lines.some((line) => line.version === next)) version = next;
  }

  function tell(since: number | undefined): ScreenNews {
    const news: ScreenNews['lines'] = [];
    let size = 0;
    const before = version;
    for (const [y, line] of lines.entries()) {
      if (since === undefined ? line.text === '' : line.version <= since) continue;
      size += line.text.length + line.runs.length;
      if (size <= ANSWER_CHARS || news.length === 0) news.push([y, line.text, line.runs]);
      // What does not fit is news at the next question.
      else line.version = before + 1;
    }
    if (lines.some((line) => line.version > before)) version = before + 1;
    return { version: `${epoch}.${before}`, whole: since === undefined, lines: news, ...around() };
  }

  /** The version that was answered last, where it is one of ours. */
  function knownVersion(since: string | undefined): number | undefined {
    const [ours, number] = since?.split('.') ?? [];
    const known = Number(number);
    return ours === epoch && Number.isSafeInteger(known) && known <= version ? known : undefined;
  }

  function wakeAll(): void {
    for (const wake of waiting) wake();
  }

  function note(): void {
    if (waiting.size === 0 || timer !== undefined) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        wakeAll();
      },
      Math.max(FIRST_MS, lookedAt + FRAME_MS - now()),
    );
  }

  /** Settles when something may have changed, or after so long. */
  function change(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(clock);
        waiting.delete(wake);
        resolve();
      };
      const clock = setTimeout(wake, waitMs);
      waiting.add(wake);
      const [oldest] = waiting;
      if (waiting.size > MOST_WAITING) oldest?.();
    });
  }

  return {
    async next(since, waitMs) {
      const until = now() + waitMs;
      const pause = lookedAt + FRAME_MS - now();
      if (since !== undefined && pause > 0 && !ended) await change(Math.min(pause, waitMs));
      for (;;) {
        await look();
        const known = knownVersion(since);
        const left = until - now();
        if (known === undefined || known < version || left <= 0 || ended) return tell(known);
        await change(left);
      }
    },
    note,
    end() {
      ended = true;
      clearTimeout(timer);
      wakeAll();
    },
  };
}
