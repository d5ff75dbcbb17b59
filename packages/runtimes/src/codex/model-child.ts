import type { Loose, RpcAnswer, RpcId } from '../process/rpc-peer.ts';
import { createRpcPeer, type RpcPeer } from '../process/rpc-peer.ts';
import type { Adapter } from './adapter.ts';
import { createAppServer } from './app-server/adapter.ts';
import { createApprovalTable } from './approval-table.ts';
import type { ApprovalEnd, ApprovalRequest, BackendName } from './backend.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { createMcpServer } from './mcp-server/adapter.ts';
import { createThreadTable } from './thread-table.ts';

/** What the driver wrote, as the child in the tests reads it. */
export interface Written {
  id?: RpcId;
  method?: string;
  params?: Loose;
  result?: unknown;
}

/** A driver without a process: the test is its child. */
export interface ModelDriver {
  adapter: Adapter;
  peer: RpcPeer;
  written: Written[];
  approvals: ApprovalRequest[];
  closed: [id: string, how: ApprovalEnd][];
  die(): void;
}

/** Builds a backend over plain memory. */
export function openModelDriver(backend: BackendName, onWritten: (message: Written) => void): ModelDriver {
  const written: Written[] = [];
  const approvals: ApprovalRequest[] = [];
  const closed: [string, ApprovalEnd][] = [];
  const threads = createThreadTable(() => {});
  const table = createApprovalTable({
    onApproval: (request) => void approvals.push(request),
    onClosed: (id, how) => void closed.push([id, how]),
    onChange: () => {},
  });
  const target: { adapter?: Adapter } = {};
  const peer = createRpcPeer({
    write(line) {
      // The peer, which is ours, writes nothing else.
      const message = JSON.parse(line) as Written;
      written.push(message);
      onWritten(message);
    },
    checkRoom: () => {},
    onRequest: (id: RpcId, method: string, params: Loose) => target.adapter?.onRequest(id, method, params),
    onNotification: (method: string, params: Loose) => target.adapter?.onNotification(method, params),
    onAnswer: (answer: RpcAnswer) => target.adapter?.onAnswer(answer),
    onLate: () => {},
    onGarbage: () => {},
  });
  const deps = {
    peer,
    threads,
    approvals: table,
    limits: DEFAULT_LIMITS,
    log: () => {},
    onRequest: undefined,
    emit: () => {},
    stray: () => {},
  };
  const adapter = backend === 'app-server' ? createAppServer(deps) : createMcpServer(deps);
  target.adapter = adapter;
  return {
    adapter,
    peer,
    written,
    approvals,
    closed,
    die() {
      const exit = { code: 1, signal: null, stderr: '' };
      table.clear();
      adapter.onGone({ status: 'failed', error: { code: 'child_exited', message: 'gone', exit } });
    },
  };
}
