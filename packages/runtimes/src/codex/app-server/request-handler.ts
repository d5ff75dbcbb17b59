import type { Loose, RpcId } from '../../process/rpc-peer.ts';
import { textAt } from '../../process/rpc-peer.ts';
import type { AdapterDeps } from '../adapter.ts';
import type { ApprovalDraft } from '../approval-table.ts';
import type { DynamicToolAnswer, FileChange } from '../backend.ts';
import { APPROVAL_KINDS, changesOf, optionsOf, questionsOf, wireAnswer } from './approvals.ts';

/** Takes what the child asks: approvals, calls of dynamic tools, the time. */
export interface RequestHandler {
  take(id: RpcId, method: string, params: Loose): void;
}

const METHOD_NOT_FOUND = -32601;

/** Answers each request of app-server exactly once. */
export function createRequestHandler(
  { peer, threads, approvals, log }: AdapterDeps,
  changesOfItem: (itemId: string) => FileChange[] | undefined,
  interrupt: (threadId: string, turnId: string) => void,
): RequestHandler {
  function askOwner(id: RpcId, method: string, params: Loose): void {
    const threadId = textAt(params, 'threadId') ?? textAt(params, 'conversationId') ?? '';
    const turnId = textAt(params, 'turnId');
    const draft: ApprovalDraft = {
      rpcId: id,
      threadId,
      turnId,
      kind: APPROVAL_KINDS[method] ?? 'mcp_elicitation',
      ...described(params),
      options: optionsOf(method, params),
      raw: { method, params },
      answer(decision) {
        const { result, interrupt: ends } = wireAnswer(method, params, decision);
        peer.answer(id, result);
        if (ends && turnId !== undefined) interrupt(threadId, turnId);
      },
    };
    approvals.open(draft);
  }

  function described(params: Loose): Partial<ApprovalDraft> {
    const { command } = params;
    const line = Array.isArray(command) ? command.map(String).join(' ') : command;
    const cwd = textAt(params, 'cwd');
    const reason = textAt(params, 'reason') ?? textAt(params, 'message');
    const changes = changesOf(params) ?? changesOfItem(textAt(params, 'itemId') ?? '');
    return {
      ...(typeof line === 'string' ? { command: line } : {}),
      ...(cwd === undefined ? {} : { cwd }),
      ...(reason === undefined ? {} : { reason }),
      ...(changes === undefined ? {} : { changes }),
      ...(Array.isArray(params['questions']) ? { questions: questionsOf(params) } : {}),
    };
  }

  async function callTool(params: Loose): Promise<DynamicToolAnswer> {
    const threadId = textAt(params, 'threadId') ?? '';
    const record = threads.add(threadId);
    const name = textAt(params, 'tool') ?? '';
    const tool = record.toolsByName.get(name);
    if (tool === undefined) return { text: `nobody answers the tool ${name}`, success: false };
    record.toolCalls ??= new AbortController();
    try {
      return await tool.handle({
        threadId,
        turnId: textAt(params, 'turnId'),
        callId: textAt(params, 'callId') ?? '',
        arguments: params['arguments'],
        signal: record.toolCalls.signal,
      });
    } catch (error) {
      log('warn', 'a dynamic tool failed', { tool: name, error: String(error) });
      return { text: error instanceof Error ? error.message : String(error), success: false };
    }
  }

  return {
    take(id, method, params) {
      if (APPROVAL_KINDS[method] !== undefined) askOwner(id, method, params);
      else if (method === 'item/tool/call')
        void callTool(params).then(({ text, success }) =>
          peer.answer(id, { contentItems: [{ type: 'inputText', text }], success }),
        );
      else if (method === 'currentTime/read')
        peer.answer(id, { currentTimeAt: Math.floor(Date.now() / 1_000) });
      else {
        log('debug', 'the child asked what this driver does not know', { method });
        peer.refuse(id, METHOD_NOT_FOUND, `${method} is not supported by this client`);
      }
    },
  };
}
