import { randomUUID } from 'node:crypto';

import { ParleyError } from '@parley/protocol';

import { RpcError } from '../errors.ts';
import type { Audit, Note } from './open-audit.ts';

/** A tool call as it came: nothing about it is certain. */
export interface ToolCall {
  tool: unknown;
  identity: unknown;
  agentId: unknown;
}

type Facts = Pick<Note, 'to' | 'summary'> & Partial<Pick<Note, 'identity' | 'agent_id'>>;

const MOST_CHARS = 200;

/** Puts a call on record before its deed and throws when it cannot, unless the call only looks: that must be possible when the disk is full. */
type NoteCall = (facts?: Facts, onlyLooks?: boolean) => void;

/** Gives a tool call its line in the record when it calls `note`, and one more, under the same correlation id, when it is refused. */
export async function auditedCall<T>(
  audit: Pick<Audit, 'note' | 'noteEnd'>,
  { tool, identity, agentId }: ToolCall,
  run: (note: NoteCall) => Promise<T>,
): Promise<T> {
  let call: Note = {
    event: 'tool_call',
    tool: textOf(tool) ?? '',
    identity: textOf(identity) ?? null,
    agent_id: textOf(agentId) ?? null,
    correlation_id: randomUUID(),
  };
  try {
    return await run((facts, onlyLooks = false) => {
      call = { ...call, ...facts };
      if (onlyLooks) audit.noteEnd(call);
      else audit.note(call);
    });
  } catch (error) {
    const { message, ...reason } = reasonOf(error);
    audit.noteEnd({ ...call, ...reason, status: 'refused', summary: message });
    throw error;
  }
}

function reasonOf(error: unknown): { message: string } & Pick<Note, 'error_code' | 'error_name'> {
  if (error instanceof ParleyError) return { message: error.message, error_name: error.code };
  if (!(error instanceof RpcError)) return { message: 'Internal error' };
  const { code, data, message } = error;
  const name = data?.['error_name'];
  return { message, error_code: code, ...(typeof name === 'string' ? { error_name: name } : {}) };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.slice(0, MOST_CHARS) : undefined;
}
