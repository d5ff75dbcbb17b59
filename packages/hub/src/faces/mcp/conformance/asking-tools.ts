import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';

import { type FixtureCall, type FixtureTool, fixture, text } from './fixture.ts';

/** Tools of the older revisions that ask the client in the middle of a call. */
export const ASKING_TOOLS: FixtureTool[] = [
  {
    name: 'test_sampling',
    description: 'Asks the client to sample.',
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    async run({ arguments: { prompt }, ctx }: FixtureCall) {
      const result = await ctx.mcpReq.send({
        method: 'sampling/createMessage',
        params: {
          messages: [{ role: 'user', content: { type: 'text', text: String(prompt) } }],
          maxTokens: 100,
        },
      });
      const { content } = result as { content: { text?: string } };
      return text(`LLM response: ${content.text ?? ''}`);
    },
  },
  {
    name: 'test_elicitation',
    description: 'Asks the person a question.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    run: ({ arguments: { message }, ctx }: FixtureCall) =>
      elicit(ctx, 'User response', String(message), {
        type: 'object',
        properties: { username: { type: 'string' }, email: { type: 'string' } },
        required: ['username', 'email'],
      }),
  },
  fixture('test_elicitation_sep1034_defaults', 'Asks with defaults.', ({ ctx }) =>
    elicit(ctx, 'Elicitation completed', 'Please review the defaults', {
      type: 'object',
      properties: {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      },
    }),
  ),
  fixture('test_elicitation_sep1330_enums', 'Asks with every kind of choice.', ({ ctx }) =>
    elicit(ctx, 'Elicitation completed', 'Please choose', {
      type: 'object',
      properties: {
        untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
        titledSingle: { type: 'string', oneOf: titled('Option') },
        legacyEnum: {
          type: 'string',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
        titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
      },
    }),
  ),
];

function titled(noun: string): { const: string; title: string }[] {
  return ['First', 'Second', 'Third'].map((rank, i) => ({
    const: `value${i + 1}`,
    title: `${rank} ${noun}`,
  }));
}

async function elicit(
  ctx: ServerContext,
  label: string,
  message: string,
  requestedSchema: object,
): Promise<CallToolResult> {
  const params = { mode: 'form', message, requestedSchema } as never;
  const result = await ctx.mcpReq.send({ method: 'elicitation/create', params });
  const { action, content } = result as { action: string; content?: unknown };
  return text(`${label}: action=${action}, content=${JSON.stringify(content ?? {})}`);
}
