/** A scripted stand-in for the OpenAI Responses API, as far as Codex uses it. */
import type { IncomingHttpHeaders } from 'node:http';
import { beginEvents, openLoopbackServer, sendJson, type LoopbackServer } from './loopback-server.ts';
import { attempt } from './attempt.ts';

/** One entry of the conversation that the client sends along with each request. */
export interface ResponsesItem {
  type: string;
  call_id?: string;
  role?: string;
  content?: unknown;
  output?: unknown;
  tools?: ResponsesTool[];
  [field: string]: unknown;
}

/** A tool on offer: a function, a namespace of functions, or the search for deferred ones. */
export interface ResponsesTool {
  type: string;
  name?: string;
  tools?: ResponsesTool[];
  [field: string]: unknown;
}

/** What the client asked of the model. */
export interface ResponsesRequest {
  headers: IncomingHttpHeaders;
  body: { model: string; input: ResponsesItem[]; tools: ResponsesTool[]; [field: string]: unknown };
}

/** What the model does: say something (and pause before it has ended), call a function, look for tools it has not been shown, or fail. */
export type ResponsesStep =
  | { text: string; hold?: Promise<void> }
  | { status: number }
  | { call: string; namespace?: string; arguments: unknown; id: string }
  | { search: string; id: string };

/** Decides what the model answers; it may wait before it does. */
export type ResponsesScript = (
  request: ResponsesRequest,
  index: number,
) => ResponsesStep[] | Promise<ResponsesStep[]>;

/** Starts the model; `url` is what a provider's `base_url` takes, `strays` the paths it does not serve, `errors` what the script threw. */
export async function startOpenaiResponses(
  script: ResponsesScript,
): Promise<LoopbackServer & { requests: ResponsesRequest[]; strays: string[]; errors: unknown[] }> {
  const requests: ResponsesRequest[] = [];
  const strays: string[] = [];
  const errors: unknown[] = [];
  const server = await openLoopbackServer(async (incoming, text, response) => {
    if (incoming.method !== 'POST' || incoming.url?.split('?')[0] !== '/v1/responses') {
      strays.push(`${incoming.method} ${incoming.url}`);
      return sendJson(response, 404, { error: { message: 'not found' } });
    }
    const request: ResponsesRequest = { headers: incoming.headers, body: JSON.parse(text) };
    const index = requests.push(request) - 1;
    const steps = await attempt(script, request, index, errors);
    if (steps === undefined) return sendJson(response, 400, { error: { message: 'script failed' } });
    const failure = steps.find((step) => 'status' in step);
    if (failure !== undefined) return sendJson(response, failure.status, { error: { message: 'scripted' } });
    const send = beginEvents(response);
    const id = `resp_${index}`;
    send('response.created', { response: { id } });
    for (const [position, step] of steps.entries()) {
      if ('status' in step) continue;
      const item = { id: `item_${index}_${position}`, ...itemOf(step) };
      if ('text' in step) {
        send('response.output_item.added', {
          output_index: position,
          item: { ...item, content: [] },
        });
        send('response.output_text.delta', {
          item_id: item.id,
          output_index: position,
          content_index: 0,
          delta: step.text,
        });
        await step.hold;
      }
      send('response.output_item.done', { output_index: position, item });
    }
    send('response.completed', { response: { id, usage } });
    response.end();
  });
  return { ...server, url: `${server.url}/v1`, requests, strays, errors };
}

const usage = {
  input_tokens: 10,
  input_tokens_details: null,
  output_tokens: 5,
  output_tokens_details: null,
  total_tokens: 15,
};

function itemOf(step: Exclude<ResponsesStep, { status: number }>): ResponsesItem {
  if ('text' in step) {
    return {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: step.text }],
    };
  }
  if ('search' in step) {
    return {
      type: 'tool_search_call',
      call_id: step.id,
      execution: 'client',
      status: 'completed',
      arguments: { query: step.search },
    };
  }
  return {
    type: 'function_call',
    call_id: step.id,
    name: step.call,
    ...(step.namespace === undefined ? {} : { namespace: step.namespace }),
    arguments: JSON.stringify(step.arguments),
  };
}
