import type { ScreenWord, ViewerWord } from '@parley/protocol';
import { batch, type Signal, signal } from '@preact/signals';

/** One row as it was told; as long as it has not changed it is the same object, and not drawn again. */
export interface Line {
  text: string;
  runs: string;
}

type Screen = Extract<ScreenWord, { type: 'screen' }>;
type Head = Omit<Screen, 'type' | 'lines' | 'whole' | 'version'>;

/** How it stands with the connection to a terminal. */
type Standing =
  | { is: 'opening' | 'live' | 'ended' }
  /** It comes back by itself. */
  | { is: 'away'; message: string }
  | { is: 'nothing'; message: string; sessions?: readonly string[] };

/** The terminal of an agent, live. */
export interface Terminal {
  standing: Signal<Standing>;
  head: Signal<Head | undefined>;
  lines: Signal<readonly Line[]>;
  /** Until when this page types there. */
  mine: Signal<string | undefined>;
  /** What was said last about taking over. */
  notice: Signal<{ text: string; code?: string } | undefined>;
  take(more?: { for_ms?: number; force?: { reason: string } }): void;
  type(keys: string): void;
  giveBack(): void;
  close(): void;
}

const PLAIN: Line = { text: '', runs: '' };
const AGAIN_MS = { first: 500, longest: 10_000 };
const KEYS_CHARS = 4_000;
/** A page that nobody sees stops looking after so long. */
const UNSEEN_MS = 20_000;
const ENDED = 1000;
const NOTHING = 4404;

/** Looks at a terminal until it is closed; a lost connection is made anew, and what was taken over is then given back. */
export function openTerminal(agentId: string, session?: string): Terminal {
  const standing = signal<Standing>({ is: 'opening' });
  const head = signal<Head | undefined>(undefined);
  const lines = signal<readonly Line[]>([]);
  const mine = signal<string | undefined>(undefined);
  const notice = signal<Terminal['notice']['value']>(undefined);
  let socket: WebSocket | undefined;
  let waitMs = AGAIN_MS.first;
  let again: ReturnType<typeof setTimeout> | undefined;
  let unseen: ReturnType<typeof setTimeout> | undefined;
  let closed = false;
  /** How it stands, drawn with the next frame of the page. */
  let rows: Line[] = [];
  let about: Head | undefined;
  let isDue = false;

  function note({ type: _type, version: _version, whole, lines: changed, ...rest }: Screen): void {
    const before = whole ? [] : rows;
    rows = Array.from({ length: rest.rows }, (_, y) => before[y] ?? PLAIN);
    for (const [y, text, runs] of changed) rows[y] = { text, runs };
    about = rest;
    if (!isDue) requestAnimationFrame(draw);
    isDue = true;
  }

  function draw(): void {
    isDue = false;
    batch(() => {
      lines.value = rows;
      head.value = about;
      standing.value = { is: about?.ended === true ? 'ended' : 'live' };
    });
  }

  function hear(word: ScreenWord): void {
    if (word.type === 'screen') note(word);
    else if (word.type === 'away') standing.value = { is: 'away', message: word.message };
    else if (word.type === 'taken') {
      mine.value = word.until;
      notice.value = undefined;
    } else if (word.type === 'over') {
      mine.value = undefined;
      notice.value = { text: word.message };
    } else if (word.type === 'refused') notice.value = { text: word.message, code: word.code };
    else
      standing.value = {
        is: 'nothing',
        message: word.message,
        ...(word.sessions === undefined ? {} : { sessions: word.sessions }),
      };
  }

  function connect(): void {
    const { protocol, host } = location;
    const query = session === undefined ? '' : `?session=${encodeURIComponent(session)}`;
    const address = `${protocol === 'https:' ? 'wss:' : 'ws:'}//${host}/v1/agents/${encodeURIComponent(agentId)}/terminal${query}`;
    const opening = new WebSocket(address);
    socket = opening;
    opening.onopen = () => (waitMs = AGAIN_MS.first);
    opening.onmessage = ({ data }) => {
      // The hub says nothing else here.
      if (socket === opening) hear(JSON.parse(String(data)) as ScreenWord);
    };
    opening.onclose = ({ code }) => {
      if (socket !== opening) return;
      socket = undefined;
      const wasMine = mine.value !== undefined;
      mine.value = undefined;
      if (closed || code === ENDED || code === NOTHING) return;
      if (wasMine) notice.value = { text: 'The connection was lost, and with it your hold on the terminal.' };
      standing.value = { is: 'away', message: 'The hub does not answer; looking for it.' };
      again = setTimeout(connect, waitMs);
      waitMs = Math.min(AGAIN_MS.longest, waitMs * 2);
    };
  }

  function leave(): void {
    clearTimeout(again);
    const leaving = socket;
    socket = undefined;
    mine.value = undefined;
    leaving?.close(ENDED);
  }

  function onSeen(): void {
    clearTimeout(unseen);
    if (document.hidden)
      unseen = setTimeout(() => {
        if (mine.value === undefined) leave();
      }, UNSEEN_MS);
    else if (socket === undefined && (standing.value.is === 'live' || standing.value.is === 'away')) {
      clearTimeout(again);
      connect();
    }
  }

  const say = (word: ViewerWord): void => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(word));
  };
  document.addEventListener('visibilitychange', onSeen);
  connect();
  return {
    standing,
    head,
    lines,
    mine,
    notice,
    take(more = {}) {
      notice.value = undefined;
      say({ type: 'take', ...more });
    },
    type(keys) {
      if (mine.value === undefined) return;
      for (let at = 0; at < keys.length; at += KEYS_CHARS)
        say({ type: 'keys', keys: keys.slice(at, at + KEYS_CHARS) });
    },
    giveBack: () => say({ type: 'give_back' }),
    close() {
      closed = true;
      document.removeEventListener('visibilitychange', onSeen);
      clearTimeout(unseen);
      leave();
    },
  };
}
