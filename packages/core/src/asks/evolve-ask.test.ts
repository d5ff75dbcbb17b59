import { expect, test } from 'vitest';

import type { Entry } from '../entry.ts';
import { askOf, evolveAsk, putAsk } from './evolve-ask.ts';

const entry = (type: Entry['type'], metadata: object): Entry =>
  ({
    type,
    thread_id: 't',
    message_id: 'm',
    sender_agent_id: 'alice',
    sender_session_id: 'a1',
    created_at: 'now',
    metadata,
  }) as unknown as Entry;
const raised = entry('ask.raised', {
  ask_id: 'a',
  expires_at: 'then',
  ask: { kind: 'approval', prompt: 'may I?' },
});

test('an entry of an ask names it, another none', () => {
  expect(askOf(raised)).toBe('a');
  expect(askOf(entry('message', { ask_id: 'a' }))).toBeUndefined();
});

test('an ask is what its entries say, one after the other', () => {
  const open = evolveAsk('w', undefined, raised);
  expect(open).toStrictEqual({
    ask_id: 'a',
    workspace_id: 'w',
    agent_id: 'alice',
    session_id: 'a1',
    thread_id: 't',
    message_id: 'm',
    kind: 'approval',
    prompt: 'may I?',
    status: 'open',
    created_at: 'now',
    expires_at: 'then',
  });
  const verdict = { decision: 'approved' };
  const answering = evolveAsk('w', open, entry('ask.answered', { status: 'answering', verdict }));
  expect(answering).toStrictEqual({ ...open, status: 'answering', verdict });
  const done = evolveAsk('w', answering, entry('ask.resolved', { status: 'resolved', resolved_at: 'later' }));
  expect(done).toStrictEqual({ ...answering, status: 'resolved', resolved_at: 'later' });
  expect(putAsk(done)).toStrictEqual({
    kind: 'ask',
    workspace_id: 'w',
    key: 'a',
    mark: 'resolved',
    owner: 'alice',
    value: done,
  });
});
