import {
  acceptedContent,
  type GetPromptResult,
  inputRequired,
  type InputRequiredResult,
  type Prompt,
  type PromptMessage,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';

import { ask } from './input-tools.ts';
import { PNG } from './samples.ts';

const required = (name: string) => ({ name, description: `The ${name}.`, required: true });

export const PROMPTS: Prompt[] = [
  { name: 'test_simple_prompt', description: 'One text.' },
  {
    name: 'test_prompt_with_arguments',
    description: 'Repeats its arguments.',
    arguments: [required('arg1'), required('arg2')],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'Holds a resource.',
    arguments: [required('resourceUri')],
  },
  { name: 'test_prompt_with_image', description: 'Holds an image.' },
  { name: 'test_input_required_result_prompt', description: 'Asks for its context.' },
];

const say = (text: string): PromptMessage => ({ role: 'user', content: { type: 'text', text } });

/** The messages of a fixture prompt. */
export function getPrompt(
  name: string,
  args: Record<string, string>,
  ctx: ServerContext,
): GetPromptResult | InputRequiredResult {
  const { arg1, arg2, resourceUri = '' } = args;
  switch (name) {
    case 'test_simple_prompt':
      return { messages: [say('This is a simple prompt for testing.')] };
    case 'test_prompt_with_arguments':
      return { messages: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] };
    case 'test_prompt_with_embedded_resource': {
      const text = 'Embedded resource content for testing.';
      const resource = { uri: resourceUri, mimeType: 'text/plain', text };
      return {
        messages: [
          { role: 'user', content: { type: 'resource', resource } },
          say('Please process the embedded resource above.'),
        ],
      };
    }
    case 'test_prompt_with_image':
      return {
        messages: [
          { role: 'user', content: { type: 'image', data: PNG, mimeType: 'image/png' } },
          say('Please analyze the image above.'),
        ],
      };
    case 'test_input_required_result_prompt': {
      const given = acceptedContent(ctx.mcpReq.inputResponses, 'user_context');
      if (given !== undefined)
        return { messages: [say(`Use the following context: ${String(given['context'])}`)] };
      const question = ask('What context should the prompt use?', { context: { type: 'string' } });
      return inputRequired({ inputRequests: { user_context: question } });
    }
    default:
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown prompt: ${name.slice(0, 128)}`);
  }
}
