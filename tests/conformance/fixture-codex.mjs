/** Plays the `codex mcp-server` of `fixture-codex` that has the tools which the conformance suite calls; FIXTURES.md says what they do. */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const text = (said) => ({ content: [{ type: 'text', text: said }] });
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const resource = (uri, mimeType, said) => ({ type: 'resource', resource: { uri, mimeType, text: said } });

serve();

function serve() {
  const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const asked = new Map();
  let asks = 0;
  const ask = (method, params) =>
    new Promise((resolve) => {
      asked.set(++asks, resolve);
      say({ id: asks, method, params });
    });
  const elicit = async (message, properties, required) => {
    const schema = { type: 'object', properties, ...(required === undefined ? {} : { required }) };
    const { action, content } = await ask('elicitation/create', { message, requestedSchema: schema });
    return text(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
  };
  const string = { type: 'string' };
  const tools = {
    test_simple_text: () => text('This is a simple text response for testing.'),
    test_image_content: () => ({ content: [image] }),
    test_audio_content: () => ({ content: [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }] }),
    test_embedded_resource: () => ({
      content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
    test_multiple_content_types: () => ({
      content: [
        ...text('Multiple content types test:').content,
        image,
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
    test_error_handling: () => ({
      ...text('This tool intentionally returns an error for testing'),
      isError: true,
    }),
    async test_tool_with_logging() {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        say({ method: 'notifications/message', params: { level: 'info', data } });
        await sleep(50);
      }
      return text('logged');
    },
    async test_tool_with_progress(_given, meta) {
      for (const progress of [0, 50, 100]) {
        if (meta?.progressToken === undefined) break;
        const { progressToken } = meta;
        say({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
        await sleep(50);
      }
      return text('done');
    },
    async test_sampling({ prompt }) {
      const messages = [{ role: 'user', content: { type: 'text', text: prompt } }];
      const { content } = await ask('sampling/createMessage', { messages, maxTokens: 100 });
      return text(`LLM response: ${content.text}`);
    },
    test_elicitation: ({ message }) =>
      elicit(message, { username: string, email: string }, ['username', 'email']),
    test_elicitation_sep1034_defaults: () =>
      elicit('Defaults', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }),
    test_streaming_elicitation: () => elicit('Anybody there?', { name: string }),
    test_logging_tool() {
      say({ method: 'notifications/message', params: { level: 'info', data: 'logged' } });
      return text('logged');
    },
    test_trigger_tool_change() {
      say({ method: 'notifications/tools/list_changed' });
      return text('changed');
    },
    test_elicitation_sep1330_enums: () => {
      const titled = (word) => [1, 2, 3].map((n) => ({ const: `value${n}`, title: `${word} ${n}` }));
      const options = ['option1', 'option2', 'option3'];
      return elicit('Enums', {
        untitledSingle: { type: 'string', enum: options },
        titledSingle: { type: 'string', oneOf: titled('Option') },
        legacyEnum: {
          type: 'string',
          enum: ['opt1', 'opt2', 'opt3'],
          enumNames: ['Option One', 'Option Two', 'Option Three'],
        },
        untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
        titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
      });
    },
  };
  const lines = createInterface({ input: process.stdin });
  lines.on('close', () => process.exit(0));
  const take = async (line) => {
    const { id, method, params, result } = JSON.parse(line);
    if (method === undefined) asked.get(id)?.(result ?? { action: 'cancel' });
    if (id === undefined || method === undefined) return;
    if (method === 'initialize') {
      const serverInfo = { name: 'codex-mcp-server', version: '0.120.0' };
      const capabilities = { tools: { listChanged: true } };
      say({ id, result: { protocolVersion: params.protocolVersion, capabilities, serverInfo } });
    } else if (method === 'tools/list') {
      const listed = Object.keys(tools).map((name) => ({
        name,
        description: name,
        inputSchema: { type: 'object' },
      }));
      say({ id, result: { tools: listed } });
    } else if (method === 'tools/call' && Object.hasOwn(tools, params.name))
      say({ id, result: await tools[params.name](params.arguments ?? {}, params['_meta']) });
    else say({ id, error: { code: -32_601, message: `method not found: ${method}` } });
  };
  lines.on('line', (line) => void take(line));
}
