import { expect, test } from 'vitest';

import type { Contract } from './contract.ts';
import { CONTRACTS } from './contracts.ts';

test('those who watch are shown what an agent says of itself and what may put it into another state, and no more', () => {
  const shown = Object.values(CONTRACTS).flatMap(({ name, shows }: Contract) =>
    shows === undefined ? [] : [[name, shows]],
  );
  expect(Object.fromEntries(shown)).toEqual({
    register_agent: 'state',
    update_agent_status: 'status',
    report_event: 'event',
    heartbeat_session: 'state',
    raise_ask: 'state',
    dismiss_error: 'state',
    ask_human: 'state',
    answer_ask: 'state',
    withdraw_ask: 'state',
    wait_for_ask: 'state',
    set_presence: 'state',
  });
});
