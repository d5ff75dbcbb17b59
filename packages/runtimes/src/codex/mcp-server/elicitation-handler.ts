import type { Loose, RpcId } from '../../process/rpc-peer.ts';
import { isObject, textAt } from '../../process/rpc-peer.ts';
import { changesByPath, wireAnswer } from '../app-server/approvals.ts';
import type { AdapterDeps } from '../adapter.ts';
import type { ApprovalDecision, ApprovalKind } from '../backend.ts';
import { reviewDecision } from '../review-decision.ts';

/** Takes what mcp-server asks its client. */
export interface ElicitationHandler {
  take(id: RpcId, method: string, params: Loose): void;
  /** The event before a request says more than the request. */
  note(threadId: string, event: Loose): void;
  /** The child wants no answer any more. */
  withdraw(id: unknown): void;
  /** The child is gone. */
  close(): void;
}

const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;
const KEPT_NOTES = 256;

const KIND_BY_WORD: Readonly<Record<string, ApprovalKind>> = {
  'exec-approval': 'command',
  'patch-approval': 'patch',
};

/** Answers with the child's decision words: an error or an unknown word would hang the turn or be taken for a failure. */
export function createElicitationHandler({
  peer,
  approvals,
  log,
  onRequest,
}: AdapterDeps): ElicitationHandler {
  const noteByCall = new Map<string, Loose>();
  const openById = new Map<unknown, AbortController>();

  /** What is neither an approval nor ours goes to the owner as it is, and his answer back. */
  async function handOn(id: RpcId, method: string, params: Loose): Promise<void> {
    if (onRequest === undefined) {
      log('debug', 'the child asked what this driver does not know', { method });
      return peer.refuse(id, METHOD_NOT_FOUND, `${method} is not supported by this client`);
    }
    const controller = new AbortController();
    openById.get(id)?.abort();
    openById.set(id, controller);
    try {
      const answer = await onRequest(method, params, controller.signal);
      if (controller.signal.aborted) return;
      if ('result' in answer) return peer.answer(id, answer.result);
      peer.refuse(id, answer.error.code, answer.error.message, answer.error.data);
    } catch (error) {
      if (!controller.signal.aborted) peer.refuse(id, INTERNAL_ERROR, String(error));
    } finally {
      if (openById.get(id) === controller) openById.delete(id);
    }
  }

  function askOwner(id: RpcId, params: Loose): void {
    const kind = KIND_BY_WORD[textAt(params, 'codex_elicitation') ?? ''] ?? 'mcp_elicitation';
    const threadId = textAt(params, 'threadId') ?? '';
    const note = noteByCall.get(`${threadId} ${textAt(params, 'codex_call_id') ?? ''}`) ?? {};
    const { codex_command: argv, codex_changes: changes } = params;
    const { available_decisions: options } = note;
    const cwd = textAt(params, 'codex_cwd');
    const reason = textAt(note, 'reason') ?? textAt(params, 'message');
    approvals.open({
      rpcId: id,
      threadId,
      turnId: textAt(note, 'turn_id') || textAt(params, 'codex_event_id') || undefined,
      kind,
      ...(Array.isArray(argv) ? { command: argv.map((word) => quoted(String(word))).join(' ') } : {}),
      ...(cwd === undefined ? {} : { cwd }),
      ...(reason === undefined ? {} : { reason }),
      ...(isObject(changes) ? { changes: changesByPath(changes) } : {}),
      options: Array.isArray(options) ? options : ['approved', 'approved_for_session', 'denied', 'abort'],
      raw: { method: 'elicitation/create', params },
      answer: (decision) => peer.answer(id, answerOf(kind, params, decision)),
    });
  }

  return {
    take(id, method, params) {
      if (method === 'elicitation/create') askOwner(id, params);
      else if (method === 'ping') peer.answer(id, {});
      else void handOn(id, method, params);
    },
    withdraw(id) {
      openById.get(id)?.abort();
      if (typeof id === 'string' || typeof id === 'number') approvals.withdraw(id);
    },
    close() {
      for (const controller of openById.values()) controller.abort();
      openById.clear();
    },
    note(threadId, event) {
      noteByCall.set(`${threadId} ${textAt(event, 'call_id') ?? ''}`, event);
      const [oldest] = noteByCall.keys();
      if (noteByCall.size > KEPT_NOTES && oldest !== undefined) noteByCall.delete(oldest);
    },
  };
}

/** The decision in the child's words, beside the standard's own, which this child does not read. */
function answerOf(kind: ApprovalKind, params: Loose, decision: ApprovalDecision): Loose {
  if (kind === 'mcp_elicitation') return wireAnswer('mcpServer/elicitation/request', params, decision).result;
  const word = reviewDecision(decision);
  const accepted = typeof word === 'string' && word.startsWith('approved');
  const action = accepted ? 'accept' : word === 'abort' ? 'cancel' : 'decline';
  return { action, ...(accepted ? { content: {} } : {}), decision: word };
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
