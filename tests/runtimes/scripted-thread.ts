import type { BackendName, TurnInput, TurnResult } from '@parley/runtimes';
import type { Message, ScriptedScene } from './scripted-child.ts';

export const THREAD = '019a0000-0000-7000-8000-000000000001';

/** A thread of a scripted child, in the words of either backend. */
export interface ScriptedThread {
  /** Starts the nth turn of the thread and tells what the child was asked. */
  turn(turnId: string, input?: Partial<TurnInput>): Promise<{ result: Promise<TurnResult>; asked: Message }>;
  say(turnId: string, delta: string): Message;
  /** The notice that ends a turn; an answer, where the backend gives one, comes apart. */
  completed(turnId: string, text: string): Message;
  interrupted(turnId: string): Message;
}

/** Makes the thread on the scripted child; on mcp-server by a first turn of its own. */
export async function openThread(backend: BackendName, scene: ScriptedScene): Promise<ScriptedThread> {
  return backend === 'app-server' ? appServerThread(scene) : mcpServerThread(scene);
}

async function appServerThread({ codex, child }: ScriptedScene): Promise<ScriptedThread> {
  const started = codex.startThread({ cwd: '/' });
  const { id } = await child.heard('thread/start');
  child.send({ id: id!, result: { thread: { id: THREAD, status: { type: 'idle' } } } });
  await started;
  let turns = 0;
  const notice = (method: string, params: Record<string, unknown>): Message => ({
    method,
    params: { threadId: THREAD, ...params },
  });
  const end = (turnId: string, status: string, items: unknown[]): Message =>
    notice('turn/completed', { turn: { id: turnId, status, items, error: null, durationMs: 1 } });
  return {
    async turn(turnId, input) {
      const result = codex.runTurn(THREAD, { prompt: turnId, ...input });
      const asked = await child.heard('turn/start', ++turns);
      child.send({ id: asked.id!, result: { turn: { id: turnId, status: 'inProgress' } } });
      child.send(notice('turn/started', { turn: { id: turnId } }));
      return { result, asked };
    },
    say: (turnId, delta) => notice('item/agentMessage/delta', { turnId, itemId: `${turnId}-item`, delta }),
    completed: (turnId, text) => end(turnId, 'completed', [{ type: 'agentMessage', text }]),
    interrupted: (turnId) => end(turnId, 'interrupted', []),
  };
}

async function mcpServerThread({ codex, child }: ScriptedScene): Promise<ScriptedThread> {
  const ids = { current: 0 as number | string };
  const event = (turnId: string, msg: Record<string, unknown>): Message => ({
    method: 'codex/event',
    params: { _meta: { requestId: ids.current, threadId: THREAD }, id: turnId, msg },
  });
  const completed = (turnId: string, text: string): Message =>
    event(turnId, { type: 'task_complete', turn_id: turnId, last_agent_message: text });
  const started = codex.startThread({ cwd: '/' }, { prompt: 'first' });
  let turns = 1;
  const first = await child.heard('tools/call', turns);
  ids.current = first.id!;
  child.send(
    event('', { type: 'session_configured' }),
    completed('first', 'first'),
    answer(first.id!, 'first'),
  );
  await (
    await started
  ).turn;
  return {
    async turn(turnId, input) {
      const result = codex.runTurn(THREAD, { prompt: turnId, ...input });
      const asked = await child.heard('tools/call', ++turns);
      ids.current = asked.id!;
      child.send(event(turnId, { type: 'task_started', turn_id: turnId }));
      return { result, asked };
    },
    say: (turnId, delta) =>
      event(turnId, { type: 'agent_message_content_delta', item_id: `${turnId}-item`, delta }),
    completed,
    interrupted: (turnId) => event(turnId, { type: 'turn_aborted', turn_id: turnId, reason: 'interrupted' }),
  };
}

/** The answer to a tool call of mcp-server. */
export function answer(id: number | string, text: string, isError = false): Message {
  return {
    id,
    result: {
      ...(isError ? { isError } : {}),
      content: [{ type: 'text', text }],
      structuredContent: { threadId: THREAD, content: text },
    },
  };
}
