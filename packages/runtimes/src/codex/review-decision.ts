import type { ApprovalDecision } from './backend.ts';

/** The words of mcp-server and of app-server's earlier requests; an unknown one would be taken for a failure. */
export function reviewDecision(decision: ApprovalDecision): unknown {
  if (decision === 'accept') return 'approved';
  if (decision === 'accept_for_session') return 'approved_for_session';
  if (decision === 'cancel') return 'abort';
  if (typeof decision === 'object') {
    if ('text' in decision) return { denied: { rejection: decision.text } };
    if ('option' in decision && OPTIONS.has(decision.option)) return decision.option;
  }
  return { denied: { rejection: 'The request was declined.' } };
}

const OPTIONS = new Set<unknown>(['approved', 'approved_for_session', 'abort']);
