/** A scripted stand-in for the OpenAI Chat Completions API, as far as opencode uses it. */
import { attempt } from './attempt.ts';
import { openLoopbackServer, sendJson, type LoopbackServer } from './loopback-server.ts';

/** What the client asked of the model. */
export interface ChatRequest {
  messages: { role: string; content: unknown; [field: string]: unknown }[];
  tools?: { function: { name: string } }[];
  [field: string]: unknown;
}

/** What the model does: say something (and pause before it has ended), or call a function. */
export type ChatStep =
  | { text: string; hold?: Promise<void> }
  | { call: string; arguments: unknown; id: string };

/** Decides what the model answers; it may wait before it does. */
export type ChatScript = (request: ChatRequest, index: number) => ChatStep[] | Promise<ChatStep[]>;

/** Starts the model; `url` is what a provider's `baseURL` takes, `errors` what the script threw. */
export async function startOpenaiChat(
  script: ChatScript,
): Promise<LoopbackServer & { requests: ChatRequest[]; errors: unknown[] }> {
  const requests: ChatRequest[] = [];
  const errors: unknown[] = [];
  const server = await openLoopbackServer(async (incoming, text, response) => {
    if (incoming.method !== 'POST' || incoming.url?.split('?')[0] !== '/v1/chat/completions')
      return sendJson(response, 404, { error: { message: 'not found' } });
    // Only the programs under test speak to it.
    const request = JSON.parse(text) as ChatRequest;
    const index = requests.push(request) - 1;
    const steps = await attempt(script, request, index, errors);
    if (steps === undefined) return sendJson(response, 400, { error: { message: 'script failed' } });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (delta: unknown, finish_reason: string | null, more: object = {}): void => {
      const choices = [{ index: 0, delta, finish_reason }];
      const chunk = { id: `chat_${index}`, object: 'chat.completion.chunk', created: 1, model: 'm', choices };
      response.write(`data: ${JSON.stringify({ ...chunk, ...more })}\n\n`);
    };
    for (const [position, step] of steps.entries()) {
      send({ role: 'assistant', ...deltaOf(step, position) }, null);
      if ('text' in step) await step.hold;
    }
    send({}, steps.some((step) => 'call' in step) ? 'tool_calls' : 'stop', { usage });
    response.end('data: [DONE]\n\n');
  });
  return { ...server, url: `${server.url}/v1`, requests, errors };
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function deltaOf(step: ChatStep, index: number): object {
  if ('text' in step) return { content: step.text };
  const called = { name: step.call, arguments: JSON.stringify(step.arguments) };
  return { tool_calls: [{ index, id: step.id, type: 'function', function: called }] };
}
