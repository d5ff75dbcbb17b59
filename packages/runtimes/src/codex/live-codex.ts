import { WebSocket } from 'ws';

import { createRpcPeer, isObject, type Loose, objectAt, textAt } from '../process/rpc-peer.ts';
import { RuntimeError } from '../runtime-error.ts';

/** A connection to the app-server of somebody's open Codex, beside its own terminal. */
export interface LiveCodex {
  version: string | undefined;
  /** Opens a thread there, as its user would. */
  startThread(cwd: string): Promise<string>;
  /** The threads that are open there. */
  loaded(): Promise<string[]>;
  /** What a thread is at there, such as `idle` or `active`; undefined where it is not open. */
  status(threadId: string): Promise<string | undefined>;
  /** True where a prompt with this mark waits in a thread's queue, or is among its last turns. */
  holds(threadId: string, mark: string): Promise<boolean>;
  /**
   * Gives a thread one more prompt. While a turn runs it waits in Codex's own queue; with `steer` it goes into that
   * turn. What the person has half typed stays as it is.
   */
  prompt(threadId: string, prompt: LivePrompt): Promise<GivenPrompt>;
  close(): void;
}

interface LivePrompt {
  text: string;
  /** Stands in the text; by it the prompt is known when it comes by among the thread's items. */
  mark: string;
  steer: boolean;
}

/** What became of a prompt: Codex has taken it, then works on it, then is done. */
interface GivenPrompt {
  /** A turn was running when it was given. */
  wasBusy: boolean;
  /** The prompt is part of the thread now: its item came by, or, where Codex shows none, the idle thread went to work. */
  arrived: Promise<'item' | 'status'>;
  /** The turn that took it has ended. */
  ended: Promise<{ ok: boolean; detail: string }>;
}

export interface LiveCodexOptions {
  /** The Unix socket, such as $CODEX_HOME/app-server-control/app-server-control.sock. */
  socket: string;
  clientInfo: { name: string; version: string };
  requestMs: number;
}

/** Joins an open Codex by its socket. It answers no question that Codex asks: those are for its user. */
export async function openLiveCodex({ socket, clientInfo, requestMs }: LiveCodexOptions): Promise<LiveCodex> {
  const wire = new WebSocket(`ws+unix://${socket}:/`, {
    perMessageDeflate: false,
    handshakeTimeout: requestMs,
    maxPayload: 16_777_216,
  });
  const listeners = new Set<(method: string, params: Loose) => void>();
  const peer = createRpcPeer({
    write: (line) => wire.send(line),
    checkRoom() {
      if (wire.readyState !== WebSocket.OPEN) throw new RuntimeError('CLOSED', 'the connection is gone');
    },
    onRequest: () => {},
    onNotification(method, params) {
      for (const listener of listeners) listener(method, params);
    },
    onAnswer: () => {},
    onLate: () => {},
    onGarbage: () => {},
  });
  const gone = new Promise<RuntimeError>((resolve) => {
    wire.on('close', () => resolve(new RuntimeError('CLOSED', 'Codex has closed the connection')));
    wire.on('error', (error) => resolve(new RuntimeError('START_FAILED', error.message)));
  });
  void gone.then((error) => peer.failAll(error));
  wire.on('message', (data: Buffer) => peer.take(data.toString()));
  await Promise.race([
    new Promise<void>((resolve) => wire.on('open', () => resolve())),
    gone.then((error) => Promise.reject(error)),
  ]);

  /** A thread that has no turn yet cannot be joined: only its status is told then. */
  function watch(threadId: string, mark: string, isJoined: boolean): Pick<GivenPrompt, 'arrived' | 'ended'> {
    let turnId: string | undefined;
    let isActive = false;
    let come: (by: 'item' | 'status') => void = () => {};
    let end: (how: { ok: boolean; detail: string }) => void = () => {};
    const arrived = new Promise<'item' | 'status'>((resolve, reject) => {
      come = resolve;
      void gone.then(reject);
    });
    arrived.catch(() => {});
    const ended = new Promise<{ ok: boolean; detail: string }>((resolve) => (end = resolve));
    const listener = (method: string, params: Loose): void => {
      if (params['threadId'] !== threadId) return;
      const item = objectAt(params, 'item');
      if (item['type'] === 'userMessage' && JSON.stringify(item).includes(mark)) {
        turnId = textAt(params, 'turnId');
        come('item');
      }
      if (method === 'thread/status/changed' && !isJoined) {
        const wasActive = isActive;
        isActive = objectAt(params, 'status')['type'] === 'active';
        if (isActive) come('status');
        else if (wasActive) finish('no longer active', true);
      }
      const turn = objectAt(params, 'turn');
      if (method !== 'turn/completed' || turnId === undefined || turn['id'] !== turnId) return;
      const status = textAt(turn, 'status') ?? 'unknown';
      finish(`turn ${status}`, status === 'completed');
    };
    const finish = (detail: string, ok: boolean): void => {
      listeners.delete(listener);
      end({ ok, detail });
    };
    listeners.add(listener);
    void gone.then(() => end({ ok: true, detail: 'no longer watched' }));
    return { arrived, ended };
  }

  /** Puts a prompt into the turn that runs; false where none does any more. */
  async function steered(given: Loose & { threadId: string }): Promise<boolean> {
    const { threadId } = given;
    const { data } = await peer.request('thread/turns/list', { threadId, limit: 1 }, requestMs);
    const [turn] = Array.isArray(data) ? data.filter(isObject) : [];
    if (turn?.['status'] !== 'inProgress') return false;
    const params = { ...given, expectedTurnId: turn['id'] };
    try {
      await peer.request('turn/steer', params, requestMs);
      return true;
    } catch (error) {
      if (error instanceof RuntimeError && error.code === 'REFUSED') return false;
      throw error;
    }
  }

  try {
    const params = {
      clientInfo: { ...clientInfo, title: null },
      capabilities: { experimentalApi: true, requestAttestation: false },
    };
    const { userAgent } = await peer.request('initialize', params, requestMs);
    peer.notify('initialized');
    return {
      version: /\/(\d+\.\d+\.\d+\S*)/.exec(typeof userAgent === 'string' ? userAgent : '')?.[1],
      async startThread(cwd) {
        const answer = await peer.request('thread/start', { cwd }, requestMs);
        return textAt(objectAt(answer, 'thread'), 'id') ?? '';
      },
      async loaded() {
        const { data } = await peer.request('thread/loaded/list', {}, requestMs);
        return Array.isArray(data) ? data.filter((id) => typeof id === 'string') : [];
      },
      async status(threadId) {
        const answer = await peer.request('thread/read', { threadId }, requestMs).catch(refusedAsNone);
        return textAt(objectAt(objectAt(answer, 'thread'), 'status'), 'type');
      },
      async holds(threadId, mark) {
        const turns = { threadId, limit: LAST_TURNS, itemsView: 'full' };
        const publicText = await Promise.all([
          peer.request('thread/queue/list', { threadId }, requestMs).catch(refusedAsNone),
          peer.request('thread/turns/list', turns, requestMs).catch(refusedAsNone),
        ]);
        return publicText.some((answer) => JSON.stringify(answer).includes(mark));
      },
      async prompt(threadId, { text, mark, steer }) {
        const joined = await peer
          .request('thread/resume', { threadId, excludeTurns: true }, requestMs)
          .catch(() => undefined);
        const wasBusy = objectAt(objectAt(joined ?? {}, 'thread'), 'status')['type'] === 'active';
        const watched = watch(threadId, mark, joined !== undefined);
        const input = [{ type: 'text', text, text_elements: [] }];
        const given = { threadId, input, clientUserMessageId: mark };
        if (!(steer && wasBusy && (await steered(given))))
          await peer.request('thread/queue/add', given, requestMs);
        return { wasBusy, ...watched };
      },
      close: () => wire.close(),
    };
  } catch (error) {
    wire.terminate();
    throw error;
  }
}

/** How many turns are looked through for a prompt that may have come. */
const LAST_TURNS = 20;

/** What Codex says no to is not there; what it does not answer is another thing. */
function refusedAsNone(error: unknown): Loose {
  if (error instanceof RuntimeError && error.code === 'REFUSED') return {};
  throw error;
}
