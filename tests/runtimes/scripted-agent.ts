import { type ResponsesItem, type ResponsesRequest, type ResponsesStep } from '@parley/runtimes';

/** What holds a slow answer back until the test lets it go. */
export interface Gate {
  opened: Promise<void>;
  open(): void;
}

export function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** A model that does what the prompt's first word says; what a tool gave back it repeats. */
export function obeyPrompt(request: ResponsesRequest, work: string, gate: Gate): ResponsesStep[] {
  const last = request.body.input.at(-1);
  if (last?.type.endsWith('_call_output') === true) return [{ text: `OUT ${JSON.stringify(last.output)}` }];
  const prompt = lastPrompt(request);
  const [verb = '', ...words] = prompt.split(' ');
  const rest = words.join(' ');
  const call = (name: string, args: unknown): ResponsesStep[] => [
    { call: name, arguments: args, id: `call_${request.body.input.length}_${rest}` },
  ];
  switch (verb) {
    case 'wait':
      return [{ text: `begun ${rest}`, hold: gate.opened }];
    case 'run':
      return call('exec_command', {
        cmd: `touch ${work}/${rest}`,
        workdir: work,
        sandbox_permissions: 'require_escalated',
        justification: 'the test wants it',
      });
    case 'linger':
      return call('exec_command', { cmd: `sleep ${rest}`, workdir: work, yield_time_ms: 500 });
    case 'patch': {
      const patch = `*** Begin Patch\n*** Add File: ${rest}\n+hello\n*** End Patch`;
      return call('exec_command', { cmd: `apply_patch <<'EOF'\n${patch}\nEOF`, workdir: work });
    }
    case 'ask': {
      const options = ['red', 'blue'].map((label) => ({ label, description: label }));
      return call('request_user_input', {
        questions: [{ id: 'colour', header: 'Colour', question: 'Which colour?', options }],
      });
    }
    case 'permit':
      return call('request_permissions', { reason: 'to look', permissions: { network: { enabled: true } } });
    case 'tool':
      return call(rest, { of: 'the test' });
    case 'remote':
      return [{ call: rest, namespace: 'mcp__desk', arguments: {}, id: `call_${request.body.input.length}` }];
    case 'fail':
      return [{ status: 500 }];
    default:
      return [{ text: `echo ${prompt}` }];
  }
}

/** The last thing that the user said, without the blocks before it. */
export function lastPrompt(request: ResponsesRequest): string {
  const said = request.body.input.filter((item) => item.type === 'message' && item.role === 'user').at(-1);
  return said === undefined ? '' : (textOf(said).split('\n\n').at(-1) ?? '');
}

/** The text of a message. */
export function textOf(item: ResponsesItem): string {
  const { content } = item;
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? '').join('') : '';
}
