import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  type ApprovalEnd,
  type ApprovalRequest,
  type BackendName,
  type ChildExit,
  type Codex,
  type CodexEvent,
  type CodexOptions,
  openCodex,
  type ThreadStatus,
} from '@parley/runtimes';
import { onTestFinished, vi } from 'vitest';

export interface Message {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: unknown;
}

/** A Codex whose child says what the test says, and all that either side heard. */
export interface ScriptedScene {
  codex: Codex;
  child: ScriptedChild;
  events: CodexEvent[];
  approvals: ApprovalRequest[];
  closedApprovals: [id: string, how: ApprovalEnd][];
  statuses: ThreadStatus[];
  exits: ChildExit[];
}

export interface ScriptedChild {
  pid: number;
  /** Everything the driver has written, in order. */
  received: Message[];
  /** Waits for the nth message of a method, the first unless told. */
  heard(method: string, nth?: number): Promise<Message>;
  /** Waits for the answer to a request of the child. */
  answerTo(id: number | string): Promise<Message>;
  send(...messages: Message[]): void;
  raw(bytes: string | Buffer): void;
  act(action: Record<string, unknown>): void;
}

const BIN = fileURLToPath(new URL('scripted-codex', import.meta.url));
const BODY = fileURLToPath(new URL('scripted-codex-body.mjs', import.meta.url));

/** Opens a Codex over a scripted child, which answers `initialize` by itself unless it is to be mute. */
export async function openScripted(
  backend: BackendName,
  options: Partial<CodexOptions> = {},
  { mute = false, env = {} }: { mute?: boolean; env?: Record<string, string> } = {},
): Promise<ScriptedScene> {
  const received: Message[] = [];
  const line: { socket?: Socket; pid: number } = { pid: 0 };
  const act = (action: Record<string, unknown>): void =>
    void line.socket?.write(`${JSON.stringify(action)}\n`);
  const raw = (bytes: string | Buffer): void => act({ out: Buffer.from(bytes).toString('base64') });
  const send = (...messages: Message[]): void => raw(messages.map((m) => `${JSON.stringify(m)}\n`).join(''));
  const server = createServer((socket) => {
    line.socket = socket;
    socket.on('error', () => {});
    createInterface({ input: socket }).on('line', (text) => {
      const word = JSON.parse(text);
      if (word.hello !== undefined) line.pid = word.pid;
      else {
        const message = JSON.parse(word.line) as Message;
        received.push(message);
        if (message.method === 'initialize' && !mute)
          send({ id: message.id!, result: { userAgent: 'scripted' } });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const scene = {
    events: [] as CodexEvent[],
    approvals: [] as ApprovalRequest[],
    closedApprovals: [] as [string, ApprovalEnd][],
    statuses: [] as ThreadStatus[],
    exits: [] as ChildExit[],
  };
  const codex = openCodex({
    bin: BIN,
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      SCRIPTED_NODE: process.execPath,
      SCRIPTED_BODY: BODY,
      SCRIPTED_PORT: String((server.address() as AddressInfo).port),
      ...env,
    },
    cwd: process.cwd(),
    backend,
    clientInfo: { name: 'parley-test', version: '0.0.0' },
    onEvent: (event) => scene.events.push(event),
    onApproval: (request) => scene.approvals.push(request),
    onApprovalClosed: (id, how) => scene.closedApprovals.push([id, how]),
    onStatus: (_threadId, status) => scene.statuses.push(status),
    onExit: (exit) => scene.exits.push(exit),
    log: () => {},
    ...options,
    limits: { interruptMs: 300, lostMs: 300, eofMs: 500, termMs: 500, ...options.limits },
  });
  onTestFinished(async () => {
    await codex.close();
    line.socket?.destroy();
    server.close();
  });
  const find = (matches: (message: Message) => boolean, nth = 1): Promise<Message> =>
    vi.waitFor(
      () => {
        const found = received.filter(matches)[nth - 1];
        if (found === undefined) throw new Error(`not heard: ${JSON.stringify(received).slice(0, 500)}`);
        return found;
      },
      { timeout: 20_000, interval: 5 },
    );
  const child: ScriptedChild = {
    get pid() {
      return line.pid;
    },
    received,
    heard: (method, nth) => find((message) => message.method === method, nth),
    answerTo: (id) => find((message) => message.method === undefined && message.id === id),
    send,
    raw,
    act,
  };
  return { ...scene, codex, child };
}
