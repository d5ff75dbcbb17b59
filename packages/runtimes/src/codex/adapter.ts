import type { Loose, RpcAnswer, RpcId, RpcPeer } from '../process/rpc-peer.ts';
import type { ApprovalTable } from './approval-table.ts';
import type { CodexBackend, CodexEvent, CodexFacts, CodexLimits, CodexOptions } from './backend.ts';
import type { TurnEnd } from './open-turn.ts';
import type { ThreadTable } from './thread-table.ts';

/** What an adapter is made of. */
export interface AdapterDeps {
  peer: RpcPeer;
  threads: ThreadTable;
  approvals: ApprovalTable;
  limits: CodexLimits;
  log: CodexOptions['log'];
  onRequest: CodexOptions['onRequest'];
  emit: (event: CodexEvent) => void;
  /** Counts an answer that belongs to nobody. */
  stray: () => void;
}

/** One backend's words for the port. */
export interface Adapter extends CodexBackend {
  readonly can: CodexFacts['can'];
  /** Resolves with the child's own name for itself. */
  initialize(clientInfo: CodexOptions['clientInfo'], timeoutMs: number): Promise<string | undefined>;
  onRequest(id: RpcId, method: string, params: Loose): void;
  onNotification(method: string, params: Loose): void;
  onAnswer(answer: RpcAnswer): void;
  /** The child is gone: whatever still waits on it ends. */
  onGone(end: TurnEnd): void;
}
