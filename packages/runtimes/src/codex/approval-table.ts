import type { RpcId } from '../process/rpc-peer.ts';
import type { ApprovalDecision, ApprovalEnd, ApprovalRequest } from './backend.ts';

/** A request of the child before it has an id and an owner. */
export interface ApprovalDraft extends Omit<ApprovalRequest, 'id' | 'respond'> {
  /** The child's own id of the request. */
  rpcId: RpcId;
  answer: (decision: ApprovalDecision) => void;
}

/** The requests that the child waits on. */
export interface ApprovalTable {
  open(draft: ApprovalDraft): void;
  pending(): ApprovalRequest[];
  /** The requests that a thread waits on, by kind. */
  waits(threadId: string): ApprovalRequest[];
  /** The child waits no longer for this one; `decision` still tells it so where it must be told. */
  withdraw(rpcId: RpcId): void;
  withdrawThread(threadId: string, decision?: ApprovalDecision): void;
  clear(): void;
}

export interface ApprovalTableOptions {
  onApproval: (request: ApprovalRequest) => void;
  onClosed: (id: string, how: ApprovalEnd) => void;
  /** The thread of a request that came or went. */
  onChange: (threadId: string) => void;
}

/** Keeps who waits for what: each request is answered at most once, and its end is told exactly once. */
export function createApprovalTable(options: ApprovalTableOptions): ApprovalTable {
  const openByRpcId = new Map<RpcId, { request: ApprovalRequest; draft: ApprovalDraft }>();
  let lastId = 0;

  function close(rpcId: RpcId, how: ApprovalEnd, decision?: ApprovalDecision): boolean {
    const found = openByRpcId.get(rpcId);
    if (found === undefined) return false;
    openByRpcId.delete(rpcId);
    if (decision !== undefined) found.draft.answer(decision);
    options.onClosed(found.request.id, how);
    options.onChange(found.request.threadId);
    return true;
  }

  const table: ApprovalTable = {
    open(draft) {
      const { rpcId, answer: _answer, ...facts } = draft;
      // An id that is used again means that the child waits for the former no longer.
      close(rpcId, 'withdrawn');
      const id = `approval-${++lastId}`;
      const request: ApprovalRequest = {
        ...facts,
        id,
        respond: (decision) =>
          openByRpcId.get(rpcId)?.request === request && close(rpcId, 'answered', known(decision)),
      };
      openByRpcId.set(rpcId, { request, draft });
      options.onChange(draft.threadId);
      options.onApproval(request);
    },
    pending: () => [...openByRpcId.values()].map(({ request }) => request),
    waits: (threadId) => table.pending().filter((request) => request.threadId === threadId),
    withdraw: (rpcId) => void close(rpcId, 'withdrawn'),
    withdrawThread(threadId, decision) {
      for (const [rpcId, { request }] of openByRpcId)
        if (request.threadId === threadId) close(rpcId, 'withdrawn', decision);
    },
    clear() {
      for (const rpcId of openByRpcId.keys()) close(rpcId, 'child_exited');
    },
  };
  return table;
}

const WORDS: readonly unknown[] = ['accept', 'accept_for_session', 'decline', 'cancel'];

/** A decision may have come from far away: what is none refuses, since the child must hear something. */
function known(decision: unknown): ApprovalDecision {
  const isOne = typeof decision === 'object' && decision !== null;
  // It is one of its words, or an object of its shape.
  return isOne || WORDS.includes(decision) ? (decision as ApprovalDecision) : 'decline';
}
