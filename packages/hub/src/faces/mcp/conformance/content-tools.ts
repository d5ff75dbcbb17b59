import { setTimeout as sleep } from 'node:timers/promises';

import { MissingRequiredClientCapabilityError, type Tool } from '@modelcontextprotocol/server';

import { clientCapabilities, fixture, type FixtureTool, text } from './fixture.ts';
import { PNG, WAV } from './samples.ts';

/** As text, because an object with a `then` looks like a promise. */
const SCHEMA_2020_12 = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {
    "address": {
      "$anchor": "addressDef",
      "type": "object",
      "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
    }
  },
  "properties": {
    "name": { "type": "string" },
    "address": { "$ref": "#/$defs/address" },
    "contactMethod": { "type": "string", "enum": ["phone", "email"] },
    "phone": { "type": "string" },
    "email": { "type": "string" }
  },
  "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
  "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
  "then": { "required": ["phone"] },
  "else": { "required": ["email"] },
  "additionalProperties": false
}`;

/** Tools that answer at once, or after a few notifications. */
export const CONTENT_TOOLS: FixtureTool[] = [
  fixture('test_simple_text', 'Returns one text.', () => text('This is a simple text response for testing.')),
  fixture('test_image_content', 'Returns one image.', () => ({
    content: [{ type: 'image', data: PNG, mimeType: 'image/png' }],
  })),
  fixture('test_audio_content', 'Returns one sound.', () => ({
    content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  })),
  fixture('test_embedded_resource', 'Returns one embedded resource.', () => ({
    content: [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  })),
  fixture('test_multiple_content_types', 'Returns text, image and resource.', () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"test":"data","value":123}',
        },
      },
    ],
  })),
  fixture('test_error_handling', 'Returns an error result.', () => ({
    ...text('This tool intentionally returns an error for testing'),
    isError: true,
  })),
  fixture('test_tool_with_progress', 'Reports progress.', async ({ ctx }) => {
    const { _meta: meta } = ctx.mcpReq;
    const progressToken = meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      const params = { progressToken: progressToken ?? '', progress, total: 100 };
      await ctx.mcpReq.notify({ method: 'notifications/progress', params });
      await sleep(50);
    }
    return text('Progress was reported.');
  }),
  fixture('test_tool_with_logging', 'Logs three lines.', async ({ ctx }) => {
    for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await ctx.mcpReq.log('info', data);
      await sleep(50);
    }
    return text('Lines were logged.');
  }),
  fixture('test_logging_tool', 'Logs one line where the request asks for it.', async ({ ctx }) => {
    await ctx.mcpReq.log('info', 'logged');
    return text('A line was logged where asked for.');
  }),
  fixture('test_missing_capability', 'Needs sampling.', ({ ctx }) => {
    if (clientCapabilities(ctx).sampling === undefined)
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    return text('The client can sample.');
  }),
  fixture('test_streaming_elicitation', 'Answers without asking.', () => text('No question was needed.')),
  fixture('test_trigger_tool_change', 'Announces a change of the tools.', ({ publish }) => {
    publish({ kind: 'tools_list_changed' });
    return text('Announced.');
  }),
  fixture('test_trigger_prompt_change', 'Announces a change of the prompts.', ({ publish }) => {
    publish({ kind: 'prompts_list_changed' });
    return text('Announced.');
  }),
  {
    name: 'json_schema_2020_12_tool',
    description: 'Has a schema with words of JSON Schema 2020-12.',
    inputSchema: JSON.parse(SCHEMA_2020_12) as Tool['inputSchema'],
    run: () => text('The schema is what counts.'),
  },
];
