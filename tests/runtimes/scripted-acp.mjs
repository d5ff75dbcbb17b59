#!/usr/bin/env node
/** An ACP agent that does what its prompt says, good or bad; `ACP_MODE` spoils its start. */
import { createInterface } from 'node:readline';

const SESSION = 'session-1';
const MODE = process.env.ACP_MODE ?? '';
const waiting = new Map();
let asks = 0;
let onCancel = () => {};

const write = (text) => process.stdout.write(`${text}\n`);
const send = (message) => write(JSON.stringify({ jsonrpc: '2.0', ...message }));
const update = (more, sessionId = SESSION) =>
  send({ method: 'session/update', params: { sessionId, update: more } });
const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
const ask = (method, params, id = `q${++asks}`) =>
  new Promise((resolve) => {
    waiting.set(id, resolve);
    send({ id, method, params });
  });
const OPTIONS = [
  { optionId: 'yes', kind: 'allow_once', name: 'Allow once' },
  { optionId: 'always', kind: 'allow_always', name: 'Always allow' },
  { optionId: 'no', kind: 'reject_once', name: 'Reject' },
];
const permission = (more = {}) => ({
  sessionId: SESSION,
  options: OPTIONS,
  toolCall: { toolCallId: 'c1', status: 'pending' },
  ...more,
});
const reported = (answer) => JSON.stringify(answer.result?.outcome ?? answer.error?.code);

const ACTS = {
  async echo(words) {
    say(words.join(' '));
    return { stopReason: 'end_turn', usage: { totalTokens: 3, nonsense: 'x' } };
  },
  quiet: async () => ({ stopReason: 'end_turn' }),
  async tool() {
    say('first I look');
    update({
      sessionUpdate: 'tool_call',
      toolCallId: 'c1',
      title: 'bash',
      kind: 'execute',
      status: 'pending',
    });
    const input = { command: 'make all', cwd: '/the/place' };
    update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', title: 'make all', rawInput: input });
    const answer = await ask('session/request_permission', permission());
    update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' });
    say(reported(answer));
    return { stopReason: 'end_turn' };
  },
  async giveup() {
    const answer = ask('session/request_permission', permission());
    send({ method: '$/cancel_request', params: { requestId: `q${asks}` } });
    say(reported(await answer));
    return { stopReason: 'end_turn' };
  },
  async forget() {
    void ask('session/request_permission', permission());
    return { stopReason: 'end_turn' };
  },
  async flood() {
    let refused = 0;
    const one = async () => {
      const { result } = await ask('session/request_permission', permission());
      if (result.outcome.outcome !== 'cancelled' || ++refused < 68) return;
      const ended = { kind: 'execute', status: 'completed' };
      update({ sessionUpdate: 'tool_call', toolCallId: 'f', title: `refused ${refused}`, ...ended });
    };
    await Promise.all(Array.from({ length: 100 }, one));
    return { stopReason: 'end_turn' };
  },
  async wrong() {
    const answers = [
      await ask('session/request_permission', { sessionId: SESSION, options: 'none' }),
      await ask('session/request_permission', permission({ sessionId: 'another' })),
      await ask('fs/read_text_file', { sessionId: SESSION, path: '/etc/passwd' }),
      await ask('terminal/create', { sessionId: SESSION, command: 'id' }),
      await ask('no/such/thing', {}),
    ];
    say(answers.map(reported).join(' '));
    return { stopReason: 'end_turn' };
  },
  async wait() {
    say('so far');
    await new Promise((resolve) => (onCancel = resolve));
    return { stopReason: 'cancelled' };
  },
  stubborn: () => (say('so far'), new Promise(() => {})),
  silent: () => new Promise(() => {}),
  async garbage() {
    for (const line of [
      'not json',
      '[1,2]',
      '"text"',
      '7',
      'null',
      '{"method":5}',
      '{"id":99,"result":{}}',
      '{}',
    ])
      write(line);
    write('{"jsonrpc":"2.0","method":"session/update"}');
    write('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":7}}');
    say(
      'I am another',
      update({ sessionUpdate: 'agent_message_chunk', content: { text: 'spy' } }, 'another'),
    );
    update({ sessionUpdate: 'of_another_kind', content: [[]] });
    update({ sessionUpdate: 'tool_call', toolCallId: 5, rawInput: 'x', content: [null, { type: 'diff' }] });
    say('and yet');
    return { stopReason: 'end_turn' };
  },
  async giant() {
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'x'.repeat(9 << 20) } });
    const answer = await ask('session/request_permission', permission({ _meta: { x: 'x'.repeat(9 << 20) } }));
    say(reported(answer));
    return { stopReason: 'end_turn' };
  },
  bloated: async () => ({ stopReason: 'end_turn', _meta: { x: 'x'.repeat(9 << 20) } }),
  die() {
    say('so far');
    process.stderr.write('the key is hunter2-hunter2\n', () => process.exit(3));
    return new Promise(() => {});
  },
  reasonless: async () => ({}),
  tired: async () => ({ stopReason: 'max_tokens' }),
  async deaf() {
    process.stdin.pause();
    say('I do not read any more');
    for (let i = 0; i < 40_000; i++) send({ id: `d${i}`, method: 'no/such/thing', params: {} });
    return new Promise(() => {});
  },
};

const METHODS = {
  initialize() {
    const resume = MODE === 'resumes' ? { sessionCapabilities: { resume: {} } } : {};
    const load = MODE === 'loads' ? { loadSession: true } : {};
    return {
      protocolVersion: MODE === 'newer' ? 2 : 1,
      agentCapabilities: { ...load, ...resume },
      agentInfo: { name: 'Scripted Agent', version: '1.2.3' },
      authMethods: [{ id: 'l', name: 'Log in', description: 'Run `agent login`' }],
    };
  },
  'session/new'() {
    if (MODE === 'login') throw { code: -32000, message: 'Authentication required' };
    if (MODE === 'nameless') return {};
    return { sessionId: SESSION };
  },
  'session/load'({ sessionId }) {
    update(
      { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'of the past' } },
      sessionId,
    );
    return null;
  },
  'session/resume': () => ({}),
  'session/prompt'({ prompt }) {
    const [act, ...words] = prompt[0].text.split(' ');
    if (ACTS[act] === undefined)
      throw { code: -32603, message: 'Internal error', data: { details: 'the model is away' } };
    return ACTS[act](words);
  },
};

if (MODE === 'dead') {
  process.stderr.write('no configuration\n');
  process.exitCode = 7;
} else createInterface({ input: process.stdin }).on('line', (line) => void take(line));

async function take(line) {
  const { id, method, params, ...answer } = JSON.parse(line);
  if (method === undefined) waiting.get(id)?.(answer);
  else if (method === 'session/cancel') onCancel();
  else if (id !== undefined && MODE !== 'mute')
    try {
      send({ id, result: await METHODS[method](params) });
    } catch (error) {
      send({ id, error });
    }
}
