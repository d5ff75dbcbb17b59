/** A scripted stand-in for the Anthropic Messages API, as far as Claude Code uses it. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { beginEvents, openLoopbackServer, sendJson, type LoopbackServer } from './loopback-server.ts';
import { attempt } from './attempt.ts';

/** One block of a message: text, a tool's use, a tool's result, or what else the client sends. */
export interface MessagesBlock {
  type: string;
  text?: string;
  tool_use_id?: string;
  content?: string | MessagesBlock[];
  is_error?: boolean;
  [field: string]: unknown;
}

/** What the client asked of the model. */
export interface MessagesRequest {
  headers: IncomingHttpHeaders;
  body: {
    model: string;
    stream?: boolean;
    messages: Array<{ role: string; content: string | MessagesBlock[] }>;
    tools?: Array<{ name: string; [field: string]: unknown }>;
    [field: string]: unknown;
  };
}

/** What the model does: say something, or use a tool. */
export type MessagesStep = { text: string } | { use: string; input: unknown; id: string };

/** Decides what the model answers; it may wait before it does. */
export type MessagesScript = (
  request: MessagesRequest,
  index: number,
) => MessagesStep[] | Promise<MessagesStep[]>;

/** Starts the model; `url` is what `ANTHROPIC_BASE_URL` takes, `strays` the paths it does not serve, `errors` what the script threw. */
export async function startAnthropicMessages(
  script: MessagesScript,
): Promise<LoopbackServer & { requests: MessagesRequest[]; strays: string[]; errors: unknown[] }> {
  const requests: MessagesRequest[] = [];
  const strays: string[] = [];
  const errors: unknown[] = [];
  const server = await openLoopbackServer(async (incoming, text, response) => {
    const path = incoming.url?.split('?')[0];
    if (path === '/v1/messages/count_tokens') return sendJson(response, 200, { input_tokens: 10 });
    if (incoming.method !== 'POST' || path !== '/v1/messages') {
      strays.push(`${incoming.method} ${incoming.url}`);
      return sendJson(response, 404, {
        type: 'error',
        error: { type: 'not_found_error', message: 'not found' },
      });
    }
    const request: MessagesRequest = { headers: incoming.headers, body: JSON.parse(text) };
    const index = requests.push(request) - 1;
    const steps = await attempt(script, request, index, errors);
    if (steps === undefined)
      return sendJson(response, 400, {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'script failed' },
      });
    const message = {
      id: `msg_${index}`,
      type: 'message',
      role: 'assistant',
      model: request.body.model,
      stop_sequence: null,
      usage: {
        input_tokens: 10,
        output_tokens: 5,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    };
    const stop_reason = steps.some((step) => 'use' in step) ? 'tool_use' : 'end_turn';
    if (request.body.stream === true) return stream(response, message, steps, stop_reason);
    sendJson(response, 200, { ...message, content: steps.map(blockOf), stop_reason });
  });
  return { ...server, requests, strays, errors };
}

function stream(response: ServerResponse, message: object, steps: MessagesStep[], stop_reason: string): void {
  const send = beginEvents(response);
  send('message_start', { message: { ...message, content: [], stop_reason: null } });
  for (const [index, step] of steps.entries()) {
    const empty = 'text' in step ? { type: 'text', text: '' } : { ...blockOf(step), input: {} };
    const delta =
      'text' in step
        ? { type: 'text_delta', text: step.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(step.input) };
    send('content_block_start', { index, content_block: empty });
    send('content_block_delta', { index, delta });
    send('content_block_stop', { index });
  }
  send('message_delta', {
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 5 },
  });
  send('message_stop', {});
  response.end();
}

function blockOf(step: MessagesStep): MessagesBlock {
  if ('text' in step) return { type: 'text', text: step.text };
  return { type: 'tool_use', id: step.id, name: step.use, input: step.input };
}
