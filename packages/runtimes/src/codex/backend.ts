/** The one port through which Codex is driven, whichever of its two servers stands behind it. */
import type { ChildExit } from '../process/child-exit.ts';

export type BackendName = 'app-server' | 'mcp-server';

export type LogLevel = 'debug' | 'info' | 'warn';

/** What the owner of a Codex gives and hears. No callback is waited for, and none may bring the driver down. */
export interface CodexOptions {
  /** A name in PATH, npm's wrapper, or the native binary. */
  bin: string;
  /** Further arguments of the server, such as `-c key=value`. */
  args?: readonly string[];
  /** The child's whole environment. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  backend: 'auto' | BackendName;
  clientInfo: { name: string; title?: string; version: string };
  /** Every notification of the child, as it came. */
  onEvent: (event: CodexEvent) => void;
  /** The child waits until `respond` is called or the request is withdrawn. */
  onApproval: (request: ApprovalRequest) => void;
  /** Once for every request that `onApproval` was given. */
  onApprovalClosed?: (id: string, how: ApprovalEnd) => void;
  /** What mcp-server asks beside approvals; without it such a question is refused. */
  onRequest?: (method: string, params: Record<string, unknown>, signal: AbortSignal) => Promise<RawAnswer>;
  onStatus?: (threadId: string, status: ThreadStatus) => void;
  /** Once, also after `close`. */
  onExit: (exit: ChildExit) => void;
  log: (level: LogLevel, message: string, facts?: Record<string, unknown>) => void;
  limits?: Partial<CodexLimits>;
}

/** Every bound of the driver. */
export interface CodexLimits {
  /** Until the child has answered its first question. */
  startMs: number;
  /** For each question that is answered at once, such as `thread/start`. */
  requestMs: number;
  /** Until an interrupted turn is given up, though the child has not confirmed it. */
  interruptMs: number;
  /** Until a turn is given up whose thread the child has already called idle. */
  lostMs: number;
  eofMs: number;
  termMs: number;
  maxLineBytes: number;
  maxBacklogBytes: number;
}

/** An answer in JSON-RPC's own words. */
export type RawAnswer = { result: unknown } | { error: { code: number; message: string; data?: unknown } };

/** How long a question in the child's own words may wait. */
export interface RawOptions {
  signal?: AbortSignal;
  /** The driver's own bound for questions unless told. */
  timeoutMs?: number;
}

export interface CodexEvent {
  threadId: string | undefined;
  turnId: string | undefined;
  method: string;
  params: Record<string, unknown>;
}

/** A thread waits for input when the child asks its user a question, for approval when it asks whether it may. */
export type ThreadStatus =
  | 'not_loaded'
  | 'idle'
  | 'active'
  | 'waiting_on_approval'
  | 'waiting_on_input'
  | 'system_error';

export interface ThreadOptions {
  cwd: string;
  model?: string;
  approvalPolicy?: string;
  sandbox?: string;
  baseInstructions?: string;
  developerInstructions?: string;
  config?: Record<string, unknown>;
  /** Tools that this process answers itself; app-server only. */
  dynamicTools?: readonly DynamicTool[];
  /** MCP servers over HTTP for this thread alone; both backends. */
  mcpServers?: Readonly<Record<string, { url: string; headers?: Record<string, string> }>>;
}

/** Codex keeps a thread's tools over a restart, but not who answers them. */
export type ResumeOptions = Partial<ThreadOptions>;

export interface DynamicTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  /** Whatever it throws is told to the model as the tool's failure. */
  handle: (call: DynamicToolCall) => Promise<DynamicToolAnswer>;
}

export interface DynamicToolCall {
  threadId: string;
  turnId: string | undefined;
  callId: string;
  arguments: unknown;
  /** Aborted when the turn ends first. */
  signal: AbortSignal;
}

export interface DynamicToolAnswer {
  text: string;
  success: boolean;
}

/** A named piece of context; no text can close its own block or imitate another. */
export interface ContextBlock {
  name: string;
  text: string;
}

export interface TurnInput {
  prompt: string;
  /** What this program vouches for, for this turn. */
  context?: readonly ContextBlock[];
  /** What others wrote: data for the model, never its instructions. */
  untrusted?: readonly ContextBlock[];
  /** Interrupts the turn; with its reason in the result. */
  signal?: AbortSignal;
  /** Called once, when Codex has put the turn into its thread: not even the death of Codex can lose it from then on. */
  onTaken?: () => void;
}

export interface StartedThread {
  /** A UUIDv7. */
  threadId: string;
  /** The first turn, where one was given. */
  turn?: Promise<TurnResult>;
}

/** How a turn ended; when it did not complete, `text` is what the agent had said by then. */
export interface TurnResult {
  threadId: string;
  turnId: string | undefined;
  status: 'completed' | 'interrupted' | 'failed';
  text: string;
  error?: TurnFailure;
  usage?: TokenUsage;
  durationMs: number;
}

/**
 * `model`: the model or its provider failed; `refused`: the child would not run the turn; `aborted`: the caller's
 * signal; `unconfirmed`: interrupted, but the child has not said so, and the thread stays busy until it does;
 * `unanswerable`: the child asked what this backend cannot answer; `lost`: the child fell silent about the turn.
 */
export interface TurnFailure {
  code: 'model' | 'refused' | 'aborted' | 'unconfirmed' | 'unanswerable' | 'lost' | 'closed' | 'child_exited';
  message: string;
  /** The child's own classification. */
  info?: unknown;
  exit?: ChildExit;
}

/** Tokens of the last request to the model, and of the thread so far. */
export interface TokenUsage {
  last: TokenCount;
  thread: TokenCount;
  /** All requests of the turn together; undefined where only the last one is known. */
  turn?: TokenCount;
  model?: string;
}

export interface TokenCount {
  input: number;
  cachedInput: number;
  output: number;
  reasoningOutput: number;
  total: number;
}

export type ApprovalKind = 'command' | 'patch' | 'permissions' | 'user_input' | 'mcp_elicitation';

export interface ApprovalRequest {
  /** Unique within this Codex. */
  id: string;
  threadId: string;
  turnId: string | undefined;
  kind: ApprovalKind;
  command?: string;
  cwd?: string;
  changes?: readonly FileChange[];
  reason?: string;
  /** The questions of a `user_input`. */
  questions?: readonly UserQuestion[];
  /** What the child would take for an answer, in its own words. */
  options: readonly unknown[];
  raw: { method: string; params: Record<string, unknown> };
  /** False when the request was answered or withdrawn before. */
  respond: (decision: ApprovalDecision) => boolean;
}

export interface FileChange {
  path: string;
  type: 'add' | 'delete' | 'update';
  /** The content of an added or deleted file, the unified diff of an updated one. */
  diff: string;
}

export interface UserQuestion {
  id: string;
  question: string;
  options: readonly string[];
}

/**
 * `decline` lets the turn go on, `cancel` ends it. A text is the reason of a refusal, or the answer to a question;
 * `answers` go by question id, `content` fills a form, `option` is one of the request's own `options`.
 */
export type ApprovalDecision =
  | 'accept'
  | 'accept_for_session'
  | 'decline'
  | 'cancel'
  | { text: string }
  | { answers: Readonly<Record<string, readonly string[]>> }
  | { content: Record<string, unknown> }
  | { option: unknown };

/** `withdrawn`: another client answered, or the turn went on or ended without an answer. */
export type ApprovalEnd = 'answered' | 'withdrawn' | 'child_exited';

export interface ThreadInfo {
  threadId: string;
  status: ThreadStatus;
  cwd: string | undefined;
  preview: string | undefined;
  /** In milliseconds. */
  createdAt: number | undefined;
  updatedAt: number | undefined;
  raw: Record<string, unknown>;
}

export interface ThreadPage {
  threads: ThreadInfo[];
  nextCursor: string | undefined;
}

/** What a backend can do with threads and turns. */
export interface CodexBackend {
  /** On mcp-server a thread exists only by its first turn, which must be given. */
  startThread(options: ThreadOptions, first?: TurnInput): Promise<StartedThread>;
  resumeThread(threadId: string, options?: ResumeOptions): Promise<void>;
  /** Settles once, whatever the child does; a second turn on a thread that has one is refused with BUSY. */
  runTurn(threadId: string, input: TurnInput): Promise<TurnResult>;
  /** Waits for the end of the running turn; false when there is none. */
  interrupt(threadId: string): Promise<boolean>;
  /** Adds to the running turn. */
  steer(threadId: string, input: Omit<TurnInput, 'signal' | 'onTaken'>): Promise<void>;
  compact(threadId: string, signal?: AbortSignal): Promise<TurnResult>;
  readThread(threadId: string): Promise<ThreadInfo>;
  /** Which of these words stand in the child's own record of a thread, on disk; none where there is no such record. */
  findInThread(threadId: string, words: readonly string[]): Promise<ReadonlySet<string>>;
  listThreads(page?: { limit?: number; cursor?: string }): Promise<ThreadPage>;
  /** Forgets an idle thread, here and where it can in the child. */
  releaseThread(threadId: string): Promise<void>;
  /** Asks the child in its own words and hands on its answer as it is; its refusal is REFUSED with its own error. */
  request(method: string, params: unknown, options?: RawOptions): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
}

/** What was started, and why so. */
export interface CodexFacts {
  backend: BackendName;
  reason: string;
  version: string | undefined;
  /** The program that was started; false for a wrapper whose native binary was not found. */
  path: string;
  native: boolean;
  pid: number;
  userAgent: string | undefined;
  can: Record<
    | 'resume'
    | 'steer'
    | 'compact'
    | 'readThreads'
    | 'dynamicTools'
    | 'threadWithoutTurn'
    /** Its own words are those of MCP. */
    | 'mcp',
    boolean
  >;
}

/** What went by unnoticed. */
export interface CodexDiagnostics {
  garbageLines: number;
  oversizedLines: number;
  strayAnswers: number;
  failedCallbacks: number;
  stderr: string;
}

/** One child process for its lifetime; when it is gone, open another. */
export interface Codex extends CodexBackend {
  /** Starts the child if nothing has yet; every other call does so too. */
  start(): Promise<CodexFacts>;
  status(threadId: string): ThreadStatus;
  /** Oldest first. */
  pendingApprovals(): ApprovalRequest[];
  diagnostics(): CodexDiagnostics;
  /** Undefined when the child was never started. */
  close(): Promise<ChildExit | undefined>;
}
