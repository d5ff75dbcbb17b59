/** Plays `codex mcp-server` for `scripted-codex` as the real one behaves; each prompt says what to do. What it receives goes to $SCRIPT_LOG. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const note = (fact) =>
  process.env.SCRIPT_LOG && appendFileSync(process.env.SCRIPT_LOG, `${JSON.stringify(fact)}\n`);
note({ started: process.pid, home: process.env.CODEX_HOME ?? null });
serve();

function serve() {
  const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const running = new Map();
  const asked = new Map();
  let asks = 0;
  const lines = createInterface({ input: process.stdin });
  let clings = false;
  lines.on('close', () => clings || process.exit(0));
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
    if (method === 'tools/call' && ['codex', 'codex-reply'].includes(params.name))
      void turn(id, params.name, params.arguments);
    else if (id !== undefined && method !== undefined && method !== 'initialize') other(id, method, params);
  });

  /** What is no turn: tools and methods of its own, and the real one's refusal of all others. */
  function other(id, method, params) {
    const tools = ['codex', 'codex-reply', ...(process.env.SCRIPT_TOOLS ?? '').split(' ').filter(Boolean)];
    const [verb] = (params?.name ?? method).split('/');
    if (method === 'tools/list') {
      const at = Number(params?.cursor ?? 0);
      const next = at + 2 < tools.length ? { nextCursor: String(at + 2) } : {};
      const page = tools.slice(at, at + 2).map((name) => ({ name, inputSchema: { type: 'object' } }));
      say({ id, result: { tools: page, ...next } });
    } else if (method === 'tools/call' && !tools.includes(params.name))
      say({
        id,
        result: { isError: true, content: [{ type: 'text', text: `Unknown tool '${params.name}'` }] },
      });
    else if (verb === 'echo') say({ id, result: { method, params, odd: [null, 1.5, { é: '\u0000' }] } });
    else if (verb === 'bare') say({ id, result: params?.bare ?? null });
    else if (verb === 'refuse')
      say({ id, error: { code: -32_055, message: 'not today', data: { why: [1] } } });
    else if (verb === 'mute') running.set(id, { stop: () => note({ cancelled: id }) });
    else if (verb === 'late') running.set(id, { stop: () => say({ id, result: 'too late' }) });
    else if (verb === 'tell') {
      say({ method: 'notifications/progress', params: { progressToken: 'p', progress: 1 } });
      say({ method: 'notifications/tools/list_changed' });
      say({ id, result: {} });
    } else if (verb === 'ask') {
      asked.set(`ask-${id}`, (answer) => say({ id, result: { answer } }));
      say({ id: `ask-${id}`, method: params.method, params: params.params });
    } else if (verb === 'die') process.exit(3);
    else say({ id, error: { code: -32_601, message: `method not found: ${method}`, data: { method } } });
  }

  async function turn(requestId, tool, given) {
    const threadId = given.threadId ?? randomUUID();
    const turnId = randomUUID();
    const event = (msg) =>
      say({ method: 'codex/event', params: { _meta: { requestId, threadId }, id: turnId, msg } });
    if (tool === 'codex') event({ type: 'session_configured', session_id: threadId, model: 'scripted' });
    event({ type: 'task_started', turn_id: turnId });
    event({ type: 'item_started', turn_id: turnId, item: { type: 'UserMessage', id: randomUUID() } });
    const state = { stopped: false, wake: () => {} };
    running.set(requestId, {
      stop() {
        state.stopped = true;
        state.wake();
      },
    });
    const wait = (ms) =>
      new Promise((resolve) => {
        if (ms !== undefined) setTimeout(resolve, ms);
        state.wake = resolve;
      });
    const ask = (command) =>
      new Promise((resolve) => {
        const id = asks++;
        asked.set(id, resolve);
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
      if (word === 'deaf') running.delete(requestId);
      if (word === 'deaf') await new Promise((resolve) => setTimeout(resolve, Number(rest)));
      if (word === 'ask') text = JSON.stringify(await ask(rest));
      if (word === 'echo') text = JSON.stringify(given);
      if (word === 'event') event({ type: 'strange', n: Number(rest), nested: { a: [1, null, 'é'] } });
      if (word === 'events')
        for (let n = 0; n < Number(rest); n++) event({ type: 'flood', n, pad: 'x'.repeat(200) });
      if (word === 'half') process.stdout.write('{"jsonrpc":"2.0","id', () => process.exit(0));
      if (word === 'half') await new Promise(() => {});
      if (word === 'huge') process.stdout.write(`${'x'.repeat(Number(rest))}\n`);
      if (word === 'stderr') process.stderr.write('e'.repeat(Number(rest)));
      if (word === 'cling') {
        clings = true;
        process.on('SIGTERM', () => {});
        setInterval(() => {}, 1_000);
        note({ grandchild: spawn('sleep', ['600'], { stdio: 'ignore' }).pid });
      }
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
    return process.env.SCRIPT_SUMMARY === 'never'
      ? [['', 'wait']]
      : [['', 'say', process.env.SCRIPT_SUMMARY ?? 'what was done so far']];
  return [
    ...prompt.matchAll(
      /^(say|wait|deaf|ask|echo|events?|die|half|huge|stderr|cling|kill|garbage|fail)(?: (.*))?$/gm,
    ),
  ];
}
