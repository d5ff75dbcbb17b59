import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import path from 'node:path';

import type { ManagedOptions, ManagedProof, ManagedSession, ManagedTurnEnd } from '../managed/session.ts';
import { versionOf } from '../process/ask-program.ts';
import { type Child, openChild } from '../process/child.ts';
import { findProgram } from '../process/find-program.ts';
import { isObject, type Loose, numberAt, objectAt, textAt } from '../process/rpc-peer.ts';
import { RuntimeError } from '../runtime-error.ts';
import { askOfClaude } from './claude-asks.ts';
import { createClaudeReports } from './claude-reports.ts';
import { createClaudeUsage } from './claude-usage.ts';
import { liveClaudeSessions } from './live-sessions.ts';

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const BOUNDS = { maxLineBytes: 33_554_432, maxBacklogBytes: 8_388_608 };
const GRACE = { eofMs: 3_000, termMs: 3_000 };
const START_MS = 60_000;
const REQUEST_MS = 30_000;

const MODE = [
  '-p',
  '--input-format',
  'stream-json',
  '--output-format',
  'stream-json',
  '--verbose',
  '--permission-prompt-tool',
  'stdio',
  '--replay-user-messages',
];

interface Turn {
  /** The id of its message, by which Claude Code tells of it. */
  uuid: string;
  from: number;
  begin: (proof: ManagedProof) => void;
  refuse: (error: RuntimeError) => void;
  end: (end: ManagedTurnEnd) => void;
}

/** The arguments of a managed `claude`; the prompts come by its input. */
export function managedClaudeArguments(
  { resume, server, args }: Pick<ManagedOptions, 'resume' | 'server' | 'args'>,
  sessionId: string,
): string[] {
  if (!SESSION_ID.test(sessionId))
    throw new RuntimeError('THREAD_NOT_FOUND', 'this is no id of a Claude Code session');
  const servers = server && {
    mcpServers: {
      [server.name]: { type: 'stdio', command: server.command, args: server.args, env: server.env },
    },
  };
  return [
    ...MODE,
    resume === undefined ? '--session-id' : '--resume',
    sessionId,
    ...args,
    // Last, since they take every word that follows.
    ...(servers === undefined ? [] : ['--mcp-config', JSON.stringify(servers)]),
    ...(server === undefined ? [] : ['--allowedTools', `mcp__${server.name}`]),
  ];
}

/** A `claude` that stays: prompts and answers as JSON lines, and what it asks its user by the control protocol. */
export async function openManagedClaude(options: ManagedOptions): Promise<ManagedSession> {
  const { env, cwd, on } = options;
  const sessionId = options.resume ?? randomUUID();
  const command = findProgram(options.bin, env, cwd);
  const version = await versionOf({ command, env, cwd, timeoutMs: START_MS });
  if (options.resume !== undefined) await mustBeClosed(options.resume, env);
  const reportsOf = createClaudeReports(cwd);
  const answersById = new Map<string, (answer: Loose | RuntimeError) => void>();
  const asksById = new Map<string, (how: 'answered' | 'withdrawn' | 'child_exited') => void>();
  let requests = 0;
  let turn: Turn | undefined;
  /** What was added to a running turn and Claude Code has not taken up yet, by the id of the message. */
  const added = new Map<string, Pick<Turn, 'begin' | 'refuse'>>();
  /** A turn that nobody here asked for, such as one that a hook began. */
  let own = false;
  let said = '';
  let gone: RuntimeError | undefined;
  const spentOf = createClaudeUsage(options.resume !== undefined);

  const write = (message: Loose): void => child.write(JSON.stringify(message));
  const userMessage = (content: string, uuid: string): Loose => ({
    type: 'user',
    uuid,
    session_id: sessionId,
    parent_tool_use_id: null,
    message: { role: 'user', content },
  });

  function control(request: Loose, timeoutMs: number): Promise<Loose> {
    if (gone !== undefined) return Promise.reject(gone);
    const request_id = `parley-${++requests}`;
    return new Promise((resolve, reject) => {
      const settle = (answer: Loose | RuntimeError): void => {
        clearTimeout(timer);
        answersById.delete(request_id);
        if (answer instanceof RuntimeError) reject(answer);
        else resolve(answer);
      };
      const late = (): void =>
        settle(new RuntimeError('TIMED_OUT', `claude did not answer ${String(request['subtype'])}`));
      const timer = setTimeout(late, timeoutMs);
      answersById.set(request_id, settle);
      write({ type: 'control_request', request_id, request });
    });
  }

  function takeRequest(request_id: string, request: Loose): void {
    const reply = (response: Loose): void =>
      write({ type: 'control_response', response: { request_id, ...response } });
    const ask = askOfClaude(request, cwd);
    if (ask === undefined) {
      reply({
        subtype: 'error',
        error: `${textAt(request, 'subtype') ?? 'this'} is not supported by this host`,
      });
      return;
    }
    asksById.set(request_id, (how) => {
      asksById.delete(request_id);
      on.askClosed(request_id, how);
    });
    on.ask({
      id: request_id,
      content: ask.content,
      answer(verdict) {
        const close = asksById.get(request_id);
        if (close === undefined) return false;
        reply({ subtype: 'success', response: ask.response(verdict) });
        close('answered');
        return true;
      },
    });
  }

  function finish(end: Omit<ManagedTurnEnd, 'durationMs'>): void {
    for (const close of asksById.values()) close('withdrawn');
    const ended = turn;
    turn = undefined;
    // What the turn did not take up any more begins one of its own.
    own = added.size > 0 && gone === undefined;
    const text = end.text === '' ? said : end.text;
    said = '';
    if (ended === undefined) return;
    const why = end.error ?? `the turn was ${end.status}`;
    ended.refuse(new RuntimeError('REFUSED', why));
    ended.end({ ...end, text, durationMs: performance.now() - ended.from });
  }

  function takeResult(message: Loose): void {
    const ok = message['is_error'] !== true && message['subtype'] === 'success';
    const text = textAt(message, 'result') ?? '';
    const interrupted = message['subtype'] === 'error_during_execution';
    const { errors } = message;
    const why = Array.isArray(errors) ? errors.map(String).join('; ') : text;
    const cost = numberAt(message, 'total_cost_usd');
    const usage = { ...objectAt(message, 'usage'), ...(cost === undefined ? {} : { total_cost_usd: cost }) };
    const turnUsage = spentOf(message);
    const spent = turnUsage === undefined ? {} : { spent: turnUsage };
    if (ok) finish({ status: 'completed', text, usage, ...spent });
    else if (interrupted) finish({ status: 'interrupted', text: '', usage, ...spent });
    else
      finish({
        status: 'failed',
        text: '',
        error: why || (textAt(message, 'subtype') ?? 'failed'),
        usage,
        ...spent,
      });
  }

  /** What becomes of messages that came into a running turn. */
  function followAdded(message: Loose): void {
    for (const [uuid, { begin, refuse }] of added) {
      if (isBegun(message, { uuid })) begin('runtime_status');
      else if (isCancelled(message, uuid)) refuse(new RuntimeError('REFUSED', 'it was cancelled'));
      else continue;
      added.delete(uuid);
    }
  }

  function take(message: Loose): void {
    if (turn !== undefined && isBegun(message, turn)) turn.begin('runtime_status');
    followAdded(message);
    const id = textAt(message, 'request_id') ?? '';
    switch (message['type']) {
      case 'control_response': {
        const response = objectAt(message, 'response');
        const settle = answersById.get(textAt(response, 'request_id') ?? '');
        if (response['subtype'] !== 'error') settle?.(objectAt(response, 'response'));
        else settle?.(new RuntimeError('REFUSED', textAt(response, 'error') ?? 'claude refused'));
        return;
      }
      case 'control_request':
        takeRequest(id, objectAt(message, 'request'));
        return;
      case 'control_cancel_request':
        asksById.get(id)?.('withdrawn');
        return;
      case 'assistant':
        if (turn === undefined) own = true;
        said = lastText(message) ?? said;
        break;
      case 'user':
        break;
      case 'result':
        takeResult(message);
        return;
      default:
        return;
    }
    for (const report of reportsOf(message)) on.report(report);
  }

  const child: Child = await openChild({
    ...BOUNDS,
    command,
    args: managedClaudeArguments(options, sessionId),
    env,
    cwd,
    onLine(line) {
      const message = parse(line);
      if (message !== undefined) take(message);
    },
    onOversized: () =>
      on.report({ event_type: 'warning', data: { message: 'a message was too long to be read' } }),
    onExit(exit) {
      const last = exit.stderr.trim().split('\n').at(-1)?.slice(0, 300) ?? '';
      const how = exit.signal === null ? `ended with code ${exit.code}` : `was ended by ${exit.signal}`;
      const error = `claude ${how}${last === '' ? '' : `: ${last}`}`;
      gone = new RuntimeError('CHILD_EXITED', error, { exit });
      for (const close of asksById.values()) close('child_exited');
      for (const settle of answersById.values()) settle(gone);
      for (const { refuse } of added.values()) refuse(gone);
      finish({ status: 'failed', text: '', error });
      on.exit(exit);
    },
  });
  try {
    await control({ subtype: 'initialize', hooks: null }, START_MS);
  } catch (error) {
    await child.close(GRACE);
    if (error instanceof RuntimeError && /No conversation found/i.test(error.message))
      throw new RuntimeError('THREAD_NOT_FOUND', error.message, error.facts);
    throw error;
  }

  return {
    facts: { runtime: 'claude_code', version, pid: child.pid, sessionId, can: { steer: true } },
    prompt(text) {
      if (gone !== undefined) throw gone;
      if (turn !== undefined || own) throw new RuntimeError('BUSY', 'a turn is running');
      const uuid = randomUUID();
      let opened: Pick<Turn, 'begin' | 'refuse'> | undefined;
      const started = new Promise<ManagedProof>((begin, refuse) => (opened = { begin, refuse }));
      started.catch(() => {});
      const ended = new Promise<ManagedTurnEnd>((end) => {
        // The promise above has set both.
        turn = { uuid, from: performance.now(), ...(opened as Pick<Turn, 'begin' | 'refuse'>), end };
      });
      write(userMessage(text, uuid));
      return { started, ended };
    },
    steer(text) {
      if (gone !== undefined) return Promise.reject(gone);
      if (turn === undefined) return Promise.reject(new RuntimeError('REFUSED', 'no turn runs'));
      const uuid = randomUUID();
      return new Promise((begin, refuse) => {
        added.set(uuid, { begin, refuse });
        // With the next result of a tool, and nothing is cut off; where none comes, in a turn of its own after this one.
        write({ ...userMessage(text, uuid), priority: 'next' });
      });
    },
    async cancel() {
      if (turn === undefined && !own) return false;
      await control({ subtype: 'interrupt' }, REQUEST_MS);
      return true;
    },
    async close() {
      await child.close(GRACE);
    },
  };
}

/** Claude Code itself tells that it has begun with a message, or hands it back as part of the conversation. */
function isBegun(message: Loose, { uuid }: Pick<Turn, 'uuid'>): boolean {
  if (message['type'] === 'command_lifecycle')
    return message['command_uuid'] === uuid && message['state'] === 'started';
  return message['type'] === 'user' && message['isReplay'] === true && message['uuid'] === uuid;
}

function isCancelled(message: Loose, uuid: string): boolean {
  return (
    message['type'] === 'command_lifecycle' &&
    message['command_uuid'] === uuid &&
    message['state'] === 'cancelled'
  );
}

/** Claude Code has no lock: two processes would write into one session. */
async function mustBeClosed(sessionId: string, env: ManagedOptions['env']): Promise<void> {
  const folder = env['CLAUDE_CONFIG_DIR'] ?? path.join(env['HOME'] ?? homedir(), '.claude');
  const live = (await liveClaudeSessions(folder)).find((one) => one.sessionId === sessionId);
  if (live === undefined) return;
  throw new RuntimeError('REFUSED', `this session is open already, in process ${live.pid}`);
}

function lastText(message: Loose): string | undefined {
  const { content } = objectAt(message, 'message');
  const texts = (Array.isArray(content) ? content : [])
    .filter(isObject)
    .map((block) => textAt(block, 'text'));
  return texts.findLast((text) => text !== undefined);
}

function parse(line: string): Loose | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
