import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { type Caller, createPausedCalls } from './paused-calls.ts';

const KEEP_MS = 1_000;
const META = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
const { signal } = new AbortController();

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A call that is answered with its agent's question, and what comes of making it again. */
async function paused() {
  const calls = createPausedCalls(KEEP_MS);
  const verdicts: unknown[] = [];
  const start = async (caller: Caller): Promise<unknown> => {
    caller.forAgent('agent');
    verdicts.push(await calls.ask('agent', { message: 'may I?' }, signal));
    return 'done';
  };
  const params = { name: 'codex', arguments: { prompt: 'ask' }, _meta: META };
  const first = (await calls.run({ id: 1, params, signal }, start)) as {
    requestState: string;
    inputRequests: object;
  };
  const inputResponses = Object.fromEntries(Object.keys(first.inputRequests).map((id) => [id, 'yes']));
  const again = () =>
    calls.run(
      { id: 2, params: { ...params, requestState: first.requestState, inputResponses }, signal },
      start,
    );
  return { again, verdicts };
}

test('[C-MCP-07] a state is good until its time is over, and then decides nothing', async () => {
  const good = await paused();
  vi.advanceTimersByTime(KEEP_MS - 1);
  expect(await good.again()).toBe('done');
  expect(good.verdicts).toEqual([{ result: 'yes' }]);
  const late = await paused();
  vi.advanceTimersByTime(KEEP_MS);
  await expect(late.again()).rejects.toMatchObject({ message: expect.stringContaining('expired') as string });
  expect(late.verdicts).toEqual([]);
});
