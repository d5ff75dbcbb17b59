import { expect, test } from 'vitest';

import { modern, type RpcReply } from '../harness/mcp-wire.ts';
import { useHub } from '../harness/use-hub.ts';

const scene = useHub({ settings: { 'mcp.conformance': true } });

const TOOL = 'test_input_required_result_request_state';
const CAPABILITIES = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
const inputResponses = { confirm: { action: 'accept', content: { ok: true } } };

function call(token: string, params: Record<string, unknown> = {}, name = TOOL): Promise<RpcReply> {
  const asked = { name, arguments: {}, ...params };
  return modern(scene.hub.url, token, 'tools/call', asked, { meta: CAPABILITIES });
}

async function firstRound(token: string): Promise<string> {
  const { answer } = await call(token);
  expect(answer?.result).toMatchObject({ resultType: 'input_required', inputRequests: { confirm: {} } });
  return String(answer?.result?.['requestState']);
}

test('[C-MCP-07] state that comes back unaltered, from its caller, goes on', async () => {
  const { token } = scene.as('alice');
  const { answer } = await call(token, { inputResponses, requestState: await firstRound(token) });
  expect(answer?.result?.['content']).toEqual([{ type: 'text', text: 'state-ok' }]);
});

test('[C-MCP-07] state that is altered, replayed, of another caller or another request is refused', async () => {
  const alice = scene.as('alice').token;
  const bob = scene.as('bob').token;
  const state = await firstRound(alice);
  const last = state.at(-1) === 'A' ? 'B' : 'A';
  const refusals: [string, () => Promise<RpcReply>][] = [
    ['one byte', () => call(alice, { inputResponses, requestState: state.slice(0, -1) + last })],
    ['first byte', () => call(alice, { inputResponses, requestState: `X${state.slice(1)}` })],
    ['another caller', () => call(bob, { inputResponses, requestState: state })],
    [
      'another tool',
      () => call(alice, { inputResponses, requestState: state }, 'test_input_required_result_tampered_state'),
    ],
    ['other arguments', () => call(alice, { inputResponses, requestState: state, arguments: { x: 1 } })],
    ['no string', () => call(alice, { inputResponses, requestState: { state } })],
  ];
  for (const [what, attempt] of refusals) {
    const { answer } = await attempt();
    expect([what, answer?.error?.code, answer?.result]).toEqual([what, -32_602, undefined]);
  }
  const good = await call(alice, { inputResponses, requestState: state });
  expect(good.answer?.result).toMatchObject({ resultType: 'complete' });
  const replay = await call(alice, { inputResponses, requestState: state });
  expect([replay.answer?.error?.code, replay.answer?.result]).toEqual([-32_602, undefined]);
});
