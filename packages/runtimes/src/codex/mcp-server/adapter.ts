import type { Loose } from '../../process/rpc-peer.ts';
import { isObject, objectAt, textAt } from '../../process/rpc-peer.ts';
import { RuntimeError } from '../../runtime-error.ts';
import type { Adapter, AdapterDeps } from '../adapter.ts';
import type { StartedThread, ThreadOptions, TurnInput } from '../backend.ts';
import { promptWithBlocks, safeBlocks } from '../context-blocks.ts';
import { openTurn, withResolvers, type OpenTurn } from '../open-turn.ts';
import { withMcpServers } from '../thread-config.ts';
import { createCallBook } from './call-book.ts';
import { createElicitationHandler } from './elicitation-handler.ts';
import { createEventWatch } from './event-watch.ts';

const PROTOCOL = '2025-06-18';

/** Drives `codex mcp-server`, which is deprecated, cannot resume, and answers under whichever id. */
export function createMcpServer(deps: AdapterDeps): Adapter {
  const { peer, threads, limits } = deps;
  const calls = createCallBook(deps);
  const handler = createElicitationHandler(deps);
  const watch = createEventWatch(deps, calls, handler);

  // Before the child has begun the turn a cancellation is lost; a second one might hit the next turn.
  const cancelled = new WeakSet<OpenTurn>();
  function interrupt(turn: OpenTurn): void {
    const requestId = calls.idOf(turn);
    if (requestId === undefined || !turn.hasStarted || cancelled.has(turn)) return;
    cancelled.add(turn);
    peer.notify('notifications/cancelled', { requestId, reason: 'interrupted' });
  }

  function open(threadId: string, { signal, onTaken }: TurnInput): OpenTurn {
    return openTurn({ threadId, signal, onTaken, interrupt, interruptMs: limits.interruptMs });
  }

  /** Nothing is left of a turn that could not even be asked for. */
  function ask(turn: OpenTurn, name: string, args: Loose): number {
    try {
      return peer.ask('tools/call', { name, arguments: args });
    } catch (error) {
      turn.settle({ status: 'failed' });
      throw error;
    }
  }

  async function startThread(options: ThreadOptions, first?: TurnInput): Promise<StartedThread> {
    if (first === undefined)
      throw new RuntimeError('UNSUPPORTED', 'mcp-server starts a thread only with its first turn');
    if ((options.dynamicTools ?? []).length > 0)
      throw new RuntimeError('UNSUPPORTED', 'mcp-server has no dynamic tools: give the thread an MCP server');
    const turn = open('', first);
    if (turn.isSettled) throw new RuntimeError('ABORTED', 'the first turn was aborted before it was sent');
    const started = withResolvers<StartedThread>();
    const args = { prompt: firstPrompt(first), ...threadArguments(options, first) };
    calls.open(turn, ask(turn, 'codex', args), started);
    // A caller who gives up before the thread has a name has nothing to come back to.
    void turn.result.then(
      () => started.reject(new RuntimeError('ABORTED', 'the first turn ended before its thread had an id')),
      (error: RuntimeError) => started.reject(error),
    );
    return started.promise;
  }

  return {
    can: {
      resume: false,
      steer: false,
      compact: false,
      readThreads: false,
      dynamicTools: false,
      threadWithoutTurn: false,
      mcp: true,
    },

    async initialize({ name, version }, timeoutMs) {
      const params = {
        protocolVersion: PROTOCOL,
        capabilities: { elicitation: {} },
        clientInfo: { name, version },
      };
      const answer = await peer.request('initialize', params, timeoutMs);
      peer.notify('notifications/initialized');
      const info = objectAt(answer, 'serverInfo');
      return textAt(info, 'user_agent') ?? textAt(info, 'name');
    },

    startThread,

    async resumeThread(threadId) {
      if (threads.get(threadId) === undefined)
        throw new RuntimeError(
          'NOT_RESUMABLE',
          `mcp-server only knows threads of its own process, and ${threadId} is none of them`,
        );
    },

    async runTurn(threadId, input) {
      if (threads.get(threadId) === undefined)
        throw new RuntimeError('THREAD_NOT_FOUND', `thread ${threadId} is not of this mcp-server`);
      threads.checkFree(threadId);
      calls.checkInStep(threadId);
      const turn = open(threadId, input);
      if (!turn.isSettled) {
        const prompt = promptWithBlocks(input.prompt, safeBlocks(input));
        calls.open(turn, ask(turn, 'codex-reply', { threadId, prompt }));
        threads.occupy(turn);
        threads.setStatus(threadId, 'active');
      }
      return turn.result;
    },

    async interrupt(threadId) {
      const turn = threads.get(threadId)?.turn;
      if (turn === undefined || turn.isSettled) return false;
      turn.stop();
      await turn.result.catch(() => {});
      return true;
    },

    steer: () => unsupported('add to a running turn'),
    compact: () => unsupported('compact a thread on request'),
    readThread: () => unsupported('read threads'),
    findInThread: async () => new Set(),
    listThreads: () => unsupported('list threads'),

    async releaseThread(threadId) {
      threads.checkFree(threadId);
      calls.forget(threadId);
      threads.remove(threadId);
    },

    request: (method, params, { signal, timeoutMs = limits.requestMs } = {}) =>
      peer.call(method, params, {
        timeoutMs,
        signal,
        onGivenUp: (requestId) => peer.notify('notifications/cancelled', { requestId }),
      }),
    notify: async (method, params) => peer.notify(method, params),

    onRequest: (id, method, params) => handler.take(id, method, params),
    onNotification(method, params) {
      if (method === 'notifications/cancelled') handler.withdraw(params['requestId']);
      else watch.take(method, params);
    },
    onAnswer: (answer) => calls.takeAnswer(answer),
    onGone(end) {
      handler.close();
      calls.clear(end);
      threads.clear(end);
    },
  };
}

function unsupported(what: string): Promise<never> {
  return Promise.reject(new RuntimeError('UNSUPPORTED', `mcp-server cannot ${what}`));
}

// The first call alone takes instructions, which stand above a prompt.
function threadArguments(options: ThreadOptions, first: TurnInput): Loose {
  const { context } = safeBlocks(first);
  const blocks = context.map(({ tag, text }) => `<${tag}>${text}</${tag}>`);
  const instructions = [options.developerInstructions ?? [], blocks].flat().join('\n\n');
  const config = withMcpServers(options);
  return {
    cwd: options.cwd,
    ...(options.model === undefined ? {} : { model: options.model }),
    ...(options.approvalPolicy === undefined ? {} : { 'approval-policy': options.approvalPolicy }),
    ...(options.sandbox === undefined ? {} : { sandbox: options.sandbox }),
    ...(options.baseInstructions === undefined ? {} : { 'base-instructions': options.baseInstructions }),
    ...(instructions === '' ? {} : { 'developer-instructions': instructions }),
    ...(isObject(config) ? { config } : {}),
  };
}

function firstPrompt(first: TurnInput): string {
  return promptWithBlocks(first.prompt, { ...safeBlocks(first), context: [] });
}
