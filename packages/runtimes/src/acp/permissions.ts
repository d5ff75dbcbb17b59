import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';

import type { ManagedListener } from '../managed/session.ts';
import { askOfPermission, outcomeOf } from './permission-ask.ts';
import type { createToolCalls } from './tool-calls.ts';

/** How an ask came to its end, in the words of the port. */
type Closed = Parameters<ManagedListener['askClosed']>[1];

const CANCELLED = { outcome: 'cancelled' } as const;
/** How many questions of one agent may be open; whoever asks more has lost its way. */
const MOST_OPEN = 32;

/** Carries an agent's questions to its owner, and each answer back once. */
export function createPermissions(deps: {
  on: Pick<ManagedListener, 'ask' | 'askClosed'>;
  calls: ReturnType<typeof createToolCalls>;
  agent: () => string;
}) {
  const { on, calls } = deps;
  const open = new Map<string, (outcome: RequestPermissionResponse['outcome'], how: Closed) => boolean>();
  let count = 0;

  return {
    ask(asked: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse> {
      const { call } = calls.take({ ...asked.toolCall });
      if (open.size >= MOST_OPEN) return Promise.resolve({ outcome: CANCELLED });
      const id = `permission-${++count}`;
      return new Promise((resolve) => {
        const settle = (outcome: RequestPermissionResponse['outcome'], how: Closed): boolean => {
          if (!open.delete(id)) return false;
          resolve({ outcome });
          on.askClosed(id, how);
          return true;
        };
        open.set(id, settle);
        signal.addEventListener('abort', () => settle(CANCELLED, 'withdrawn'));
        on.ask({
          id,
          content: askOfPermission(asked, call, deps.agent()),
          answer: (verdict) => settle(outcomeOf(asked.options, verdict), 'answered'),
        });
      });
    },
    closeAll(how: Closed): void {
      for (const settle of open.values()) settle(CANCELLED, how);
    },
  };
}
