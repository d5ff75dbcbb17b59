import { RpcError } from '../errors.ts';
import type { Audit } from './open-audit.ts';

/** A tool call as it came: nothing about it is certain. */
interface ToolCall {
  tool: unknown;
  args: unknown;
}

/** Tools whose deeds are put on record where they are done. */
const NOTED_ELSEWHERE = /^(codex|codex-reply|atm_.*)$/;
/** Looking must be possible when the disk is full. */
const LOOKS = /^agent_(sessions|status)$/;
const MOST_CHARS = 200;

/** Puts every tool call on record: those that no turn and no mail tool tells of before they run, and each that is refused. */
export async function auditedCall<T>(
  audit: Pick<Audit, 'note' | 'noteEnd'>,
  { tool, args }: ToolCall,
  run: () => Promise<T>,
): Promise<T> {
  const name = textOf(tool) ?? '';
  const { identity, agent_id } = (args !== null && typeof args === 'object' ? args : {}) as Record<
    string,
    unknown
  >;
  const note = {
    event: 'tool_call',
    tool: name,
    identity: textOf(identity) ?? null,
    agent_id: textOf(agent_id) ?? null,
  } as const;
  if (LOOKS.test(name)) audit.noteEnd(note);
  else if (!NOTED_ELSEWHERE.test(name)) audit.note(note);
  try {
    return await run();
  } catch (error) {
    const { code, data, message } =
      error instanceof RpcError ? error : { code: undefined, data: undefined, message: 'Internal error' };
    audit.noteEnd({
      ...note,
      status: 'refused',
      summary: message,
      ...(code === undefined ? {} : { error_code: code }),
      ...(typeof data?.['error_name'] === 'string' ? { error_name: data['error_name'] } : {}),
    });
    throw error;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MOST_CHARS) : undefined;
}
