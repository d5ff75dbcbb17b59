import type { ThreadEvent } from '@parley/protocol';
import { batch } from '@preact/signals';

import { apply, loadAgents, loadSnapshot } from './replica.ts';
import { line, me, presence } from './state.ts';
import { whoAmI } from './session.ts';

/** How long a tab that nobody looks at keeps its stream: browsers allow few connections to one host. */
const HIDDEN_MS = 60_000;

/** States also change by mere time (somebody falls silent), and no event tells of that. */
const LOOK_AGAIN_MS = 15_000;

/** So long the page waits for the screen before it takes in what has come. */
const NO_PICTURE_MS = 200;

interface Frame {
  pos?: number;
  event: ThreadEvent;
}

let source: EventSource | undefined;
let position: number | undefined;
/** The id of the last event that had one: what the hub goes on after. */
let cursor = '';
let queue: ThreadEvent[] = [];
let drawing = false;
let holding = false;
let tries = 0;
let hiding: ReturnType<typeof setTimeout> | undefined;

let watching = false;

/** Keeps one stream of all that happens, and the page in step with it. */
export function goLive(): void {
  connect();
  if (watching) return;
  watching = true;
  setInterval(() => {
    if (!document.hidden && line.value === 'live') void loadAgents();
  }, LOOK_AGAIN_MS);
  document.addEventListener('visibilitychange', () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(disconnect, HIDDEN_MS);
    else if (source === undefined) connect();
    else void loadAgents();
  });
  addEventListener('online', () => connect());
}

/** Ends the stream, as when nobody is signed in any more. */
export function disconnect(): void {
  source?.close();
  source = undefined;
}

function connect(): void {
  disconnect();
  if (me.value === null || me.value === undefined) return;
  const stream = new EventSource(position === undefined ? '/v1/stream' : `/v1/stream?after=${cursor}`);
  source = stream;
  stream.addEventListener('hello', (hello) => {
    const fresh = position === undefined;
    tries = 0;
    // Who is present is told anew after each hello.
    presence.value = new Map();
    // The hub writes just this.
    position = (JSON.parse(String(hello.data)) as { pos: number }).pos;
    cursor = hello.lastEventId;
    // What came before the hello is in the snapshot, what comes after it on the stream. Events wait for the snapshot:
    // one that is applied before would be lost when an older picture arrives after it.
    holding = fresh;
    void (fresh ? loadSnapshot() : loadAgents())
      .then(
        () => (line.value = 'live'),
        () => (line.value = 'lost'),
      )
      .finally(() => {
        holding = false;
        if (queue.length > 0) draw();
      });
  });
  stream.addEventListener('message', (message) => {
    // As above.
    const { pos, event } = JSON.parse(String(message.data)) as Frame;
    if (pos !== undefined) {
      if (position !== undefined && pos <= position) return;
      position = pos;
      cursor = message.lastEventId;
    }
    queue.push(event);
    if (!drawing && !holding) draw();
  });
  stream.addEventListener('agents', () => void loadAgents());
  stream.addEventListener('error', () => void recover(stream));
}

/** A burst of events becomes one change of the page per picture the screen shows, also while it shows none. */
function draw(): void {
  drawing = true;
  const flush = (): void => {
    if (!drawing) return;
    drawing = false;
    clearTimeout(late);
    const events = queue;
    queue = [];
    batch(() => apply(events));
  };
  // A window that is covered, or a machine that is short of breath, may draw nothing for long.
  const late = setTimeout(flush, NO_PICTURE_MS);
  requestAnimationFrame(flush);
}

/** The browser comes back by itself from a lost connection; from a refusal it does not. */
async function recover(stream: EventSource): Promise<void> {
  if (stream !== source) return;
  line.value = 'lost';
  if (stream.readyState !== EventSource.CLOSED) return;
  source = undefined;
  await whoAmI();
  // Another log than ours, or a hub that is not there: begin anew.
  if (++tries % 3 === 0) position = undefined;
  setTimeout(
    () => (source === undefined && !document.hidden ? connect() : undefined),
    Math.min(10_000, 1_000 * tries),
  );
}
