#!/usr/bin/env node
/** Plays `codex mcp-server` as the real one behaves; each prompt says what to do. What it receives goes to $SCRIPT_LOG. */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const args = process.argv.slice(2);
const note = (fact) =>
  process.env.SCRIPT_LOG && appendFileSync(process.env.SCRIPT_LOG, `${JSON.stringify(fact)}\n`);
if (args.includes('--version')) {
  console.log('codex-cli 0.120.0');
} else if (args.includes('--help')) {
  if (args[0] === 'mcp-server') console.log('Usage: codex mcp-server [OPTIONS]');
  else console.error(`error: unrecognized subcommand '${args[0]}'`);
} else {
  note({ started: process.pid, home: process.env.CODEX_HOME ?? null });
  serve();
}

function serve() {
  const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const running = new Map();
  const asked = new Map();
  let asks = 0;
  const lines = createInterface({ input: process.stdin });
  lines.on('close', () => process.exit(0));
  lines.on('line', (line) => {
    const { id, method, params, result, error } = JSON.parse(line);
    note({ id, method, params, result, error });
    if (method === undefined) asked.get(id)?.({ result, error });
    if (method === 'initialize')
      say({
        id,
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'codex-mcp-server', version: '0.120.0' },
        },
      });
    if (method === 'notifications/cancelled') running.get(params.requestId)?.stop();
    if (method === 'tools/call') void turn(id, params.name, params.arguments);
  });

  async function turn(requestId, tool, given) {
    const threadId = given.threadId ?? randomUUID();
    const turnId = randomUUID();
    const event = (msg) =>
      say({ method: 'codex/event', params: { _meta: { requestId, threadId }, id: turnId, msg } });
    if (tool === 'codex') event({ type: 'session_configured', session_id: threadId, model: 'scripted' });
    event({ type: 'task_started', turn_id: turnId });
    const state = { stopped: false };
    const wait = (ms) =>
      new Promise((resolve) => {
        const timer = ms === undefined ? undefined : setTimeout(() => resolve(true), ms);
        running.set(requestId, {
          stop() {
            clearTimeout(timer);
            state.stopped = true;
            resolve(false);
          },
        });
      });
    const ask = (command) =>
      new Promise((resolve) => {
        const id = asks++;
        asked.set(id, resolve);
        running.set(requestId, { stop: () => (state.stopped = true) });
        say({
          id,
          method: 'elicitation/create',
          params: {
            message: `Allow Codex to run \`${command}\`?`,
            requestedSchema: { type: 'object', properties: {} },
            threadId,
            codex_elicitation: 'exec-approval',
            codex_mcp_tool_call_id: String(requestId),
            codex_event_id: turnId,
            codex_call_id: 'call_1',
            codex_command: [command],
            codex_cwd: '/',
          },
        });
      });
    let text = '';
    for (const [, word, rest = ''] of wordsOf(given.prompt)) {
      if (state.stopped) break;
      if (word === 'say') {
        text = rest;
        event({ type: 'agent_message_content_delta', item_id: turnId, delta: rest });
        event({ type: 'agent_message', message: rest });
      }
      if (word === 'wait') await wait(rest === '' ? undefined : Number(rest));
      if (word === 'deaf') await new Promise((resolve) => setTimeout(resolve, Number(rest)));
      if (word === 'ask') text = JSON.stringify(await ask(rest));
      if (word === 'echo') text = JSON.stringify(given);
      if (word === 'event') event({ type: 'strange', n: Number(rest), nested: { a: [1, null, 'é'] } });
      if (word === 'events')
        for (let n = 0; n < Number(rest); n++) event({ type: 'flood', n, pad: 'x'.repeat(200) });
      if (word === 'die') process.exit(Number(rest));
      if (word === 'kill') process.kill(process.pid, 'SIGKILL');
      if (word === 'garbage') process.stdout.write('{"half": \nnot json at all\n\n[1,2]\n');
      if (word === 'fail') {
        event({ type: 'error', message: rest });
        say({
          id: requestId,
          result: {
            content: [{ type: 'text', text: rest }],
            structuredContent: { threadId, content: rest },
            isError: true,
          },
        });
        return;
      }
    }
    running.delete(requestId);
    // The real one never answers a cancelled call.
    if (state.stopped) {
      event({ type: 'turn_aborted', turn_id: turnId, reason: 'interrupted' });
      return;
    }
    event({ type: 'task_complete', turn_id: turnId, last_agent_message: text });
    say({
      id: requestId,
      result: { content: [{ type: 'text', text }], structuredContent: { threadId, content: text } },
    });
  }
}

/** The lines of a prompt that are orders. A prompt that asks for a summary gets one. */
function wordsOf(prompt) {
  if (prompt.includes('about to be closed'))
    return process.env.SCRIPT_SUMMARY === 'never' ? [['', 'wait']] : [['', 'say', 'what was done so far']];
  return [...prompt.matchAll(/^(say|wait|deaf|ask|echo|events?|die|kill|garbage|fail)(?: (.*))?$/gm)];
}
