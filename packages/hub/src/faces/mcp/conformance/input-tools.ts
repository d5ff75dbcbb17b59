import { acceptedContent, inputRequired, inputResponse } from '@modelcontextprotocol/server';

import { clientCapabilities, type FixtureCall, type FixtureTool, fixture, text } from './fixture.ts';

const QUESTION = {
  name: () => ask('What is your name?', { name: { type: 'string' } }),
  confirm: () => ask('Please confirm', { ok: { type: 'boolean' } }),
  capital: () => sample('What is the capital of France?', 100),
};

/** A form with these fields, all of them required. */
export function ask(message: string, properties: Record<string, { type: 'string' } | { type: 'boolean' }>) {
  const requestedSchema = { type: 'object' as const, properties, required: Object.keys(properties) };
  return inputRequired.elicit({ message, requestedSchema });
}

function sample(question: string, maxTokens: number) {
  return inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: question } }],
    maxTokens,
  });
}

function answers({ ctx }: FixtureCall) {
  return ctx.mcpReq.inputResponses;
}

/** Tools of the newest revision that end a round with a question and go on when the call comes again. */
export const INPUT_TOOLS: FixtureTool[] = [
  fixture('test_input_required_result_elicitation', 'Asks for a name.', (call) => {
    const given = acceptedContent(answers(call), 'user_name');
    if (typeof given?.['name'] === 'string') return text(`Hello, ${given['name']}!`);
    return inputRequired({ inputRequests: { user_name: QUESTION.name() } });
  }),
  fixture('test_input_required_result_sampling', 'Asks a model.', (call) => {
    const view = inputResponse(answers(call), 'capital_question');
    if (view.kind === 'sampling') return text(JSON.stringify(view.result.content));
    return inputRequired({ inputRequests: { capital_question: QUESTION.capital() } });
  }),
  fixture('test_input_required_result_list_roots', 'Asks for the roots.', (call) => {
    const view = inputResponse(answers(call), 'client_roots');
    if (view.kind === 'roots') return text(JSON.stringify(view.roots));
    return inputRequired({ inputRequests: { client_roots: listRoots() } });
  }),
  fixture('test_input_required_result_request_state', 'Carries state.', (call) =>
    confirmed(call, 'state-ok'),
  ),
  fixture('test_input_required_result_tampered_state', 'Refuses altered state.', (call) =>
    confirmed(call, 'confirmed'),
  ),
  fixture('test_input_required_result_multiple_inputs', 'Asks three things.', (call) => {
    if (call.state() === 'asked' && answers(call) !== undefined) return text('All three were given.');
    return inputRequired({
      requestState: call.seal('asked'),
      inputRequests: {
        user_name: QUESTION.name(),
        greeting: sample('Generate a greeting', 50),
        client_roots: listRoots(),
      },
    });
  }),
  fixture('test_input_required_result_multi_round', 'Asks twice.', (call) => {
    const state = call.state();
    const first = acceptedContent(answers(call), 'step1');
    if (state === 'step1' && first !== undefined)
      return inputRequired({
        requestState: call.seal({ name: first['name'] }),
        inputRequests: {
          step2: ask('Step 2: What is your favorite color?', { color: { type: 'string' } }),
        },
      });
    const second = acceptedContent(answers(call), 'step2');
    if (state !== undefined && state !== 'step1' && second !== undefined)
      return text(`${JSON.stringify(state)} likes ${String(second['color'])}.`);
    return inputRequired({
      requestState: call.seal('step1'),
      inputRequests: { step1: ask('Step 1: What is your name?', { name: { type: 'string' } }) },
    });
  }),
  fixture('test_input_required_result_capabilities', 'Asks only what the client can answer.', ({ ctx }) => {
    const can = clientCapabilities(ctx);
    return inputRequired({
      inputRequests: {
        ...(can.sampling === undefined ? {} : { capital_question: QUESTION.capital() }),
        ...(can.elicitation === undefined ? {} : { user_name: QUESTION.name() }),
      },
    });
  }),
];

function confirmed(call: FixtureCall, done: string) {
  const state = call.state();
  const given = acceptedContent(answers(call), 'confirm');
  if (state === 'asked' && given?.['ok'] === true) return text(done);
  return inputRequired({ requestState: call.seal('asked'), inputRequests: { confirm: QUESTION.confirm() } });
}

function listRoots() {
  return { method: 'roots/list' as const, params: {} };
}
