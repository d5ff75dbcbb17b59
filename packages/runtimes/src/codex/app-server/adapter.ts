import type { Loose } from '../../process/rpc-peer.ts';
import { objectAt, isObject, textAt } from '../../process/rpc-peer.ts';
import { RuntimeError } from '../../runtime-error.ts';
import type { Adapter, AdapterDeps } from '../adapter.ts';
import type { ResumeOptions, TurnInput } from '../backend.ts';
import { safeBlocks } from '../context-blocks.ts';
import { findInRollout } from '../find-in-rollout.ts';
import { openTurn, type OpenTurn } from '../open-turn.ts';
import { withMcpServers } from '../thread-config.ts';
import { createRequestHandler } from './request-handler.ts';
import { threadInfo } from './thread-facts.ts';
import { createTurnWatch } from './turn-watch.ts';

/** Drives `codex app-server`. */
export function createAppServer(deps: AdapterDeps): Adapter {
  const { peer, threads, limits } = deps;
  const watch = createTurnWatch(deps);
  const handler = createRequestHandler(deps, (itemId) => watch.changesOf(itemId), interruptById);

  async function call(method: string, params: Loose): Promise<Loose> {
    try {
      return await peer.request(method, params, limits.requestMs);
    } catch (error) {
      throw refined(error);
    }
  }

  // An interrupt before the child has begun the turn is refused, and the turn would run on: it is repeated.
  function interrupt(turn: OpenTurn): void {
    if (turn.turnId !== undefined && turn.hasStarted) interruptById(turn.threadId, turn.turnId);
  }

  function interruptById(threadId: string, turnId: string): void {
    peer.request('turn/interrupt', { threadId, turnId }, limits.requestMs).catch((error: unknown) => {
      deps.log('debug', 'an interrupt was refused', { threadId, error: String(error) });
    });
  }

  function open(threadId: string, signal: AbortSignal | undefined, onTaken?: () => void): OpenTurn {
    threads.checkFree(threadId);
    const turn = openTurn({ threadId, signal, onTaken, interrupt, interruptMs: limits.interruptMs });
    if (!turn.isSettled) threads.occupy(turn);
    return turn;
  }

  function begin(turn: OpenTurn, method: string, params: Loose): void {
    // Its end is bounded by the caller's signal: only a refusal or a death makes the question fail.
    peer.request(method, params, 2 ** 31 - 1).then(
      (answer) => {
        const turnId = textAt(objectAt(answer, 'turn'), 'id');
        if (turnId !== undefined) watch.named(turn, turnId);
      },
      (error: unknown) => {
        const refusal = refined(error);
        // The child's end is told to all turns at once, with what they gathered.
        if (refusal.code !== 'CHILD_EXITED' && refusal.code !== 'CLOSED') threads.refuse(turn, refusal);
      },
    );
  }

  function noteModel(threadId: string, answer: Loose): void {
    const record = threads.get(threadId);
    if (record !== undefined) record.model = textAt(answer, 'model');
  }

  function registerTools(threadId: string, options: ResumeOptions): void {
    const { toolsByName } = threads.add(threadId);
    for (const tool of options.dynamicTools ?? []) toolsByName.set(tool.name, tool);
  }

  async function runTurn(threadId: string, input: TurnInput): ReturnType<Adapter['runTurn']> {
    const turn = open(threadId, input.signal, input.onTaken);
    if (!turn.isSettled) begin(turn, 'turn/start', { threadId, ...turnParams(input) });
    return turn.result;
  }

  return {
    can: {
      resume: true,
      steer: true,
      compact: true,
      readThreads: true,
      dynamicTools: true,
      threadWithoutTurn: true,
      mcp: false,
    },

    async initialize({ name, title, version }, timeoutMs) {
      const params = {
        clientInfo: { name, title: title ?? null, version },
        capabilities: { experimentalApi: true, requestAttestation: false },
      };
      const answer = await peer.request('initialize', params, timeoutMs);
      peer.notify('initialized');
      return textAt(answer, 'userAgent');
    },

    async startThread(options, first) {
      const started = await call('thread/start', threadParams(options));
      const { thread } = started;
      const { threadId, status } = threadInfo(isObject(thread) ? thread : {});
      if (threadId === '') throw new RuntimeError('REFUSED', 'the child started a thread without an id');
      registerTools(threadId, options);
      if (threads.get(threadId)?.status === 'not_loaded') threads.setStatus(threadId, status);
      noteModel(threadId, started);
      if (first === undefined) return { threadId };
      const turn = runTurn(threadId, first);
      turn.catch(() => {});
      return { threadId, turn };
    },

    async resumeThread(threadId, options = {}) {
      const { dynamicTools: _tools, ...rest } = threadParams(options);
      registerTools(threadId, options);
      const resumed = await call('thread/resume', { threadId, ...rest, excludeTurns: true });
      const { thread } = resumed;
      if (isObject(thread)) threads.setStatus(threadId, threadInfo(thread).status);
      noteModel(threadId, resumed);
    },

    runTurn,

    async interrupt(threadId) {
      const turn = threads.get(threadId)?.turn;
      if (turn === undefined || turn.isSettled) return false;
      turn.stop();
      await turn.result.catch(() => {});
      return true;
    },

    async steer(threadId, input) {
      const turnId = threads.get(threadId)?.turn?.turnId ?? threads.get(threadId)?.foreignTurnId;
      if (turnId === undefined) throw new RuntimeError('REFUSED', `no turn is running on thread ${threadId}`);
      await call('turn/steer', { threadId, expectedTurnId: turnId, ...turnParams(input) });
    },

    async compact(threadId, signal) {
      const turn = open(threadId, signal);
      if (!turn.isSettled) {
        watch.expectUnnamed(turn);
        begin(turn, 'thread/compact/start', { threadId });
      }
      return turn.result;
    },

    async readThread(threadId) {
      const { thread } = await call('thread/read', { threadId });
      return threadInfo(isObject(thread) ? thread : {});
    },

    async findInThread(threadId, words) {
      const { thread } = await call('thread/read', { threadId });
      const path = isObject(thread) ? textAt(thread, 'path') : undefined;
      return path === undefined ? new Set() : findInRollout(path, words);
    },

    async listThreads({ limit, cursor } = {}) {
      const answer = await call('thread/list', {
        ...(limit === undefined ? {} : { limit }),
        ...(cursor === undefined ? {} : { cursor }),
        modelProviders: [],
        sourceKinds: ['cli', 'vscode', 'exec', 'appServer'],
      });
      const data = Array.isArray(answer['data']) ? answer['data'].filter(isObject) : [];
      return { threads: data.map(threadInfo), nextCursor: textAt(answer, 'nextCursor') };
    },

    async releaseThread(threadId) {
      threads.checkFree(threadId);
      await call('thread/unsubscribe', { threadId });
      threads.remove(threadId);
    },

    request: (method, params, { signal, timeoutMs = limits.requestMs } = {}) =>
      peer.call(method, params, { timeoutMs, signal }),
    notify: async (method, params) => peer.notify(method, params),

    onRequest: (id, method, params) => handler.take(id, method, params),
    onNotification: (method, params) => watch.take(method, params),
    onAnswer: deps.stray,
    onGone(end) {
      watch.close();
      threads.clear(end);
    },
  };
}

/** Codex has one code for everything: its words tell which. */
function refined(error: unknown): RuntimeError {
  if (!(error instanceof RuntimeError)) return new RuntimeError('REFUSED', String(error));
  const missing = /thread not found|no rollout found|invalid thread id|not loaded/i.test(error.message);
  return error.code === 'REFUSED' && missing
    ? new RuntimeError('THREAD_NOT_FOUND', error.message, error.facts)
    : error;
}

function threadParams(options: ResumeOptions): Loose {
  const { dynamicTools, mcpServers: _servers, config: _config, ...rest } = options;
  const config = withMcpServers(options);
  const specs = dynamicTools?.map(({ name, description, inputSchema }) => ({
    type: 'function',
    name,
    description,
    inputSchema,
  }));
  return {
    ...rest,
    ...(config === undefined ? {} : { config }),
    ...(specs === undefined ? {} : { dynamicTools: specs }),
  };
}

function turnParams(input: Omit<TurnInput, 'signal' | 'onTaken'>): Loose {
  const { context, untrusted } = safeBlocks(input);
  const entries = [
    ...context.map(({ tag, text }) => [tag, { kind: 'application', value: text }] as const),
    ...untrusted.map(({ tag, text }) => [tag, { kind: 'untrusted', value: text }] as const),
  ];
  return {
    input: [{ type: 'text', text: input.prompt, text_elements: [] }],
    ...(entries.length === 0 ? {} : { additionalContext: Object.fromEntries(entries) }),
  };
}
