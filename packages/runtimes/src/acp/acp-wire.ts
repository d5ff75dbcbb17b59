import { fieldsOf } from '@parley/protocol';
import type {
  AgentRequestMethod,
  AgentRequestParamsByMethod,
  AnyMessage,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';

import { type Child, openChild } from '../process/child.ts';
import type { ChildExit } from '../process/child-exit.ts';
import { isObject, type Loose } from '../process/rpc-peer.ts';
import { RuntimeError } from '../runtime-error.ts';

export interface AcpWireOptions {
  command: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** What a session does, as it came: nothing about it is certain. */
  onUpdate: (params: Loose) => void;
  /** The signal tells that the agent waits no longer. */
  onPermission: (asked: RequestPermissionRequest, signal: AbortSignal) => Promise<RequestPermissionResponse>;
  /** Once, after the last line. */
  onExit: (exit: ChildExit) => void;
}

/** An agent's process that speaks the Agent Client Protocol by lines. */
export interface AcpWire {
  readonly pid: number;
  /** Answers are not checked by anyone yet. Without a bound it waits until the agent answers or is gone. */
  request<M extends AgentRequestMethod>(
    method: M,
    params: AgentRequestParamsByMethod[M],
    timeoutMs?: number,
  ): Promise<Loose>;
  cancel(sessionId: string): void;
  stderr(): string;
  close(): Promise<ChildExit>;
}

const BOUNDS = { maxLineBytes: 8_388_608, maxBacklogBytes: 1_048_576 };
const GRACE = { eofMs: 2_000, termMs: 3_000 };
const TOO_LONG = { code: -32_603, message: 'the line is longer than is read here' };

/**
 * Starts the agent and speaks to it through the official SDK. What reaches the SDK was looked at before: lines within a
 * bound, JSON objects, answers to questions that were asked; updates of sessions are read by us, as agents send kinds
 * that no schema knows.
 */
export async function openAcpWire(options: AcpWireOptions): Promise<AcpWire> {
  const { client, methods } = await import('@agentclientprotocol/sdk');
  const asked = new Set<unknown>();
  let feed: ReadableStreamDefaultController<AnyMessage> | undefined;
  let isOver = false;
  // The SDK checks what it is fed.
  const pass = (message: unknown): void => void (isOver || feed?.enqueue(message as AnyMessage));

  function take(line: string): void {
    const message = parse(line);
    if (message === undefined) return;
    const { method, id, params } = message;
    if (method === methods.client.session.update) {
      if (isObject(params)) options.onUpdate(params);
    } else if (typeof method === 'string' || (method === undefined && asked.delete(id))) pass(message);
  }

  /** Nobody is left waiting for what was too long to be read. */
  function takeOversized(head: string): void {
    const found =
      /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,)?\s*"id"\s*:\s*(\d{1,15}|"[\w-]{1,64}")\s*[,}]/.exec(head);
    if (found === null) return;
    // The pattern lets a text or a number through.
    const id = JSON.parse(found[1] ?? '') as string | number;
    if (asked.delete(id)) pass({ jsonrpc: '2.0', id, error: TOO_LONG });
    else if (/"method"\s*:/.test(head)) child.write(JSON.stringify({ jsonrpc: '2.0', id, error: TOO_LONG }));
  }

  let child: Child;
  const connection = client({ name: 'parley' })
    .onRequest(methods.client.session.requestPermission, ({ params, signal }) =>
      options.onPermission(params, signal),
    )
    .connect({
      readable: new ReadableStream<AnyMessage>({ start: (controller) => void (feed = controller) }),
      writable: new WritableStream<AnyMessage>({
        write(message) {
          child.checkRoom();
          if ('method' in message && 'id' in message) asked.add(message.id);
          child.write(JSON.stringify(message));
        },
      }),
    });
  child = await openChild({
    ...BOUNDS,
    ...options,
    onLine: take,
    onOversized: takeOversized,
    onExit(exit) {
      isOver = true;
      connection.close();
      options.onExit(exit);
    },
  });
  // An agent that has stopped reading is of no more use.
  void connection.closed.then(() => {
    isOver = true;
    return child.close(GRACE);
  });

  return {
    pid: child.pid,
    stderr: () => child.stderr(),
    async request(method, params, timeoutMs) {
      const late = new AbortController();
      const timer =
        timeoutMs === undefined
          ? undefined
          : setTimeout(
              () =>
                late.abort(new RuntimeError('TIMED_OUT', `no answer to ${method} within ${timeoutMs} ms`)),
              timeoutMs,
            );
      try {
        const answer: unknown = await connection.agent.request(method, params, {
          cancellationSignal: late.signal,
          stopWaitingOnCancel: true,
        });
        return isObject(answer) ? answer : {};
      } catch (error) {
        if (late.signal.aborted) throw late.signal.reason;
        if (isOver || connection.signal.aborted)
          throw new RuntimeError('CHILD_EXITED', 'the agent is gone', { childError: String(error) });
        throw refusal(error);
      } finally {
        clearTimeout(timer);
      }
    },
    cancel: (sessionId) =>
      void connection.agent.notify(methods.agent.session.cancel, { sessionId }).catch(() => {}),
    close: () => child.close(GRACE),
  };
}

/** The agent's own words for why it does not do something. */
function refusal(error: unknown): RuntimeError {
  const { code, message, data } = fieldsOf(error);
  const said = typeof message === 'string' ? message : 'no reason given';
  const details = isObject(data) && typeof data['details'] === 'string' ? `: ${data['details']}` : '';
  return new RuntimeError('REFUSED', `${said}${details}`.slice(0, 1_000), {
    childError: { code, message, data },
  });
}

function parse(line: string): Loose | undefined {
  try {
    const message: unknown = JSON.parse(line);
    return isObject(message) ? message : undefined;
  } catch {
    return undefined;
  }
}
