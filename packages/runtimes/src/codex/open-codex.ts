import { errorText } from '@parley/protocol';
import { openChild, type Child } from '../process/child.ts';
import type { ChildExit } from '../process/child-exit.ts';
import { createRpcPeer, type Loose, type RpcAnswer, type RpcId } from '../process/rpc-peer.ts';
import { RuntimeError } from '../runtime-error.ts';
import type { Adapter } from './adapter.ts';
import { createAppServer } from './app-server/adapter.ts';
import { createApprovalTable } from './approval-table.ts';
import type {
  Codex,
  CodexDiagnostics,
  CodexFacts,
  CodexOptions,
  ThreadStatus,
  TurnFailure,
} from './backend.ts';
import { chooseBackend } from './choose-backend.ts';
import { findCodex } from './find-codex.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { createMcpServer } from './mcp-server/adapter.ts';
import { createThreadTable } from './thread-table.ts';

const CLOSED = 'this Codex was closed';

interface Running {
  child: Child;
  adapter: Adapter;
  facts: CodexFacts;
}

interface Life {
  starting: Promise<Running> | undefined;
  child: Child | undefined;
  gone: ChildExit | undefined;
  isClosed: boolean;
}

/** Opens one Codex child, which is started by the first call that needs it. */
export function openCodex(options: CodexOptions): Codex {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const counts: Omit<CodexDiagnostics, 'stderr'> = {
    garbageLines: 0,
    oversizedLines: 0,
    strayAnswers: 0,
    failedCallbacks: 0,
  };
  const closing = new AbortController();
  const life: Life = { starting: undefined, child: undefined, gone: undefined, isClosed: false };

  /** A failing listener is its own affair. */
  function tell<T extends unknown[]>(listener: ((...args: T) => unknown) | undefined, ...args: T): boolean {
    try {
      const outcome = listener?.(...args);
      if (outcome instanceof Promise) outcome.catch(() => counts.failedCallbacks++);
      return true;
    } catch (error) {
      counts.failedCallbacks++;
      options.log('warn', 'a listener failed', { error: String(error) });
      return false;
    }
  }

  const threads = createThreadTable((threadId, status) => tell(options.onStatus, threadId, status));
  const approvals = createApprovalTable({
    onApproval(request) {
      if (!tell(options.onApproval, request)) request.respond('decline');
    },
    onClosed: (id, how) => tell(options.onApprovalClosed, id, how),
    onChange: (threadId) => showWaiting(threadId),
  });

  // app-server tells this itself; the same word twice is told once.
  function showWaiting(threadId: string): void {
    const record = threads.get(threadId);
    if (record?.turn === undefined) return;
    const waits = approvals.waits(threadId);
    const asks = waits.some(({ kind }) => kind === 'user_input');
    const status: ThreadStatus =
      waits.length === 0 ? 'active' : asks ? 'waiting_on_input' : 'waiting_on_approval';
    threads.setStatus(threadId, status);
  }

  function ifGone(): RuntimeError | undefined {
    const { gone, isClosed } = life;
    if (isClosed) return new RuntimeError('CLOSED', CLOSED, { ...(gone && { exit: gone }) });
    return gone && new RuntimeError('CHILD_EXITED', `codex ${howEnded(gone)}`, { exit: gone });
  }

  const isTooLate = (): boolean => life.isClosed;

  async function launch(): Promise<Running> {
    const { bin, env, cwd, args = [] } = options;
    const found = await findCodex(bin, env, cwd);
    const question = { command: found.path, env, cwd, timeoutMs: limits.startMs, signal: closing.signal };
    const choice = await chooseBackend(question, options.backend);
    if (isTooLate()) throw new RuntimeError('CLOSED', CLOSED);
    const adapterRef: { current?: Adapter } = {};
    const peer = createRpcPeer({
      write: (line) => life.child?.write(line),
      checkRoom: () => life.child?.checkRoom(),
      onRequest: (id: RpcId, method: string, params: Loose) =>
        adapterRef.current?.onRequest(id, method, params),
      onNotification: (method: string, params: Loose) => adapterRef.current?.onNotification(method, params),
      onAnswer: (answer: RpcAnswer) => adapterRef.current?.onAnswer(answer),
      onLate: () => void counts.strayAnswers++,
      onGarbage() {
        if (counts.garbageLines++ === 0) options.log('warn', 'the child wrote a line that is no message');
      },
    });
    const deps = {
      peer,
      threads,
      approvals,
      limits,
      log: options.log,
      onRequest: options.onRequest,
      emit: (event: Parameters<CodexOptions['onEvent']>[0]) => void tell(options.onEvent, event),
      stray: () => void counts.strayAnswers++,
    };
    const adapter = choice.backend === 'app-server' ? createAppServer(deps) : createMcpServer(deps);
    adapterRef.current = adapter;
    const child = await openChild({
      command: found.path,
      args: [choice.backend, ...args],
      env,
      cwd,
      maxLineBytes: limits.maxLineBytes,
      maxBacklogBytes: limits.maxBacklogBytes,
      onLine: (line) => peer.take(line),
      onOversized(head) {
        counts.oversizedLines++;
        options.log('warn', 'the child wrote a line longer than the driver reads');
        peer.takeOversized(head);
      },
      onExit(exit) {
        life.gone = exit;
        const closed = life.isClosed;
        const message = closed ? CLOSED : `codex ${howEnded(exit)}`;
        const error: TurnFailure = { code: closed ? 'closed' : 'child_exited', message, exit };
        approvals.clear();
        adapter.onGone({ status: closed ? 'interrupted' : 'failed', error });
        peer.failAll(new RuntimeError(closed ? 'CLOSED' : 'CHILD_EXITED', message, { exit }));
        tell(options.onExit, exit);
      },
    });
    life.child = child;
    const { pid } = child;
    try {
      if (isTooLate()) throw new RuntimeError('CLOSED', CLOSED);
      const userAgent = await adapter.initialize(options.clientInfo, limits.startMs);
      const facts = { ...choice, ...found, pid, userAgent, can: adapter.can };
      options.log('info', `codex ${choice.backend} started: ${choice.reason}`, {
        pid,
        version: choice.version,
      });
      return { child, adapter, facts };
    } catch (error) {
      const exit = await child.close({ eofMs: 0, termMs: limits.termMs });
      if (isTooLate()) throw new RuntimeError('CLOSED', CLOSED, { exit });
      throw new RuntimeError('START_FAILED', `codex ${choice.backend} did not start: ${errorText(error)}`, {
        exit,
      });
    }
  }

  async function running(): Promise<Running> {
    const refusal = ifGone();
    // A start that failed stays failed with its own reason.
    if (refusal !== undefined && (life.isClosed || life.starting === undefined)) throw refusal;
    life.starting ??= launch();
    const found = await life.starting;
    const late = ifGone();
    if (late !== undefined) throw late;
    return found;
  }

  const adapter = async (): Promise<Adapter> => (await running()).adapter;
  return {
    start: async () => (await running()).facts,
    startThread: async (thread, first) => (await adapter()).startThread(thread, first),
    resumeThread: async (threadId, thread) => (await adapter()).resumeThread(threadId, thread),
    runTurn: async (threadId, input) => (await adapter()).runTurn(threadId, input),
    interrupt: async (threadId) => (await adapter()).interrupt(threadId),
    steer: async (threadId, input) => (await adapter()).steer(threadId, input),
    compact: async (threadId, signal) => (await adapter()).compact(threadId, signal),
    readThread: async (threadId) => (await adapter()).readThread(threadId),
    findInThread: async (threadId, words) => (await adapter()).findInThread(threadId, words),
    listThreads: async (page) => (await adapter()).listThreads(page),
    releaseThread: async (threadId) => (await adapter()).releaseThread(threadId),
    request: async (method, params, how) => (await adapter()).request(method, params, how),
    notify: async (method, params) => (await adapter()).notify(method, params),
    status: (threadId) => threads.get(threadId)?.status ?? 'not_loaded',
    pendingApprovals: () => approvals.pending(),
    diagnostics: () => ({ ...counts, stderr: life.child?.stderr() ?? '' }),
    async close() {
      life.isClosed = true;
      closing.abort(new RuntimeError('CLOSED', CLOSED));
      await life.child?.close({ eofMs: limits.eofMs, termMs: limits.termMs });
      // A start under way sees that it is too late, and ends its child itself.
      await life.starting?.catch(() => {});
      return life.gone;
    },
  };
}

function howEnded({ code, signal }: ChildExit): string {
  return signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
}
