import type { ManagedReport } from '../managed/session.ts';
import { isObject, type Loose, objectAt, textAt } from '../process/rpc-peer.ts';
import { headline, publicText } from '../public-text.ts';

/** A tool call as far as the agent has told of it. */
export interface ToolCall {
  title: string;
  kind: string;
  status: string;
  /** What is to be run or changed, word for word. */
  command: string | undefined;
  cwd: string | undefined;
}

const NEW: ToolCall = { title: '', kind: 'other', status: 'pending', command: undefined, cwd: undefined };
/** What changes something outside the session; what was only read or thought is not told. */
const TOLD: ReadonlySet<string> = new Set(['execute', 'edit', 'delete', 'move']);
/** How many calls are remembered, so that a question can be shown with what was told before. */
const KEPT = 64;
const MOST_COMMAND = 65_536;

/** What the agent has told of its tool calls; the newest are kept. */
export function createToolCalls() {
  const byId = new Map<string, ToolCall>();
  return {
    /** What is known of a call after one more telling, and the report that it has ended, if this tells so. */
    take(update: Loose): { call: ToolCall; report: ManagedReport | undefined } {
      const id = textAt(update, 'toolCallId') ?? '';
      const before = byId.get(id) ?? NEW;
      const call = merged(before, update);
      byId.delete(id);
      byId.set(id, call);
      const [oldest] = byId.keys();
      if (byId.size > KEPT && oldest !== undefined) byId.delete(oldest);
      const isNews = call.status !== before.status;
      return { call, report: isNews ? reportOf(call) : undefined };
    },
    clear: () => byId.clear(),
  };
}

function merged(before: ToolCall, update: Loose): ToolCall {
  const input = objectAt(update, 'rawInput');
  return {
    title: textAt(update, 'title') ?? before.title,
    kind: textAt(update, 'kind') ?? before.kind,
    status: textAt(update, 'status') ?? before.status,
    command: commandOf(input, update['content']) ?? before.command,
    cwd: textAt(input, 'cwd') ?? textAt(input, 'workdir') ?? before.cwd,
  };
}

/** The command itself, or the edits with their files, or else all that was put into the tool. */
function commandOf(input: Loose, content: unknown): string | undefined {
  const { command } = input;
  if (typeof command === 'string') return bounded(command);
  if (Array.isArray(command) && command.every((word) => typeof word === 'string'))
    return bounded(command.join(' '));
  const edits = (Array.isArray(content) ? content : []).filter(
    (part): part is Loose => isObject(part) && part['type'] === 'diff',
  );
  if (edits.length > 0) return bounded(edits.map(editText).join('\n'));
  const { cwd: _cwd, workdir: _workdir, ...rest } = input;
  return Object.keys(rest).length === 0 ? undefined : bounded(JSON.stringify(rest));
}

function editText(edit: Loose): string {
  const lines = (key: string, sign: string): string[] => {
    const text = textAt(edit, key);
    return text === undefined || text === '' ? [] : text.split('\n').map((line) => `${sign}${line}`);
  };
  return [textAt(edit, 'path') ?? 'a file', ...lines('oldText', '-'), ...lines('newText', '+')].join('\n');
}

/** Longer ones cannot be shown whole anyway, and say so by their length. */
function bounded(text: string): string {
  return text.slice(0, MOST_COMMAND);
}

function reportOf({ title, kind, status, command, cwd }: ToolCall): ManagedReport | undefined {
  if ((status !== 'completed' && status !== 'failed') || !TOLD.has(kind)) return undefined;
  const what = headline(title) || headline(command ?? '') || kind;
  const runs = kind === 'execute';
  const verb = status === 'completed' ? (runs ? 'ran' : 'did') : runs ? 'did not run' : 'failed';
  return {
    event_type: 'task_progress',
    data: {
      message: `${verb}: ${what}`,
      tool: publicText(kind, 100),
      ...(command === undefined ? {} : { command: publicText(command) }),
      ...(cwd === undefined ? {} : { cwd: publicText(cwd) }),
    },
  };
}
