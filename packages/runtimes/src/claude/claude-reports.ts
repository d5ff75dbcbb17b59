import type { ManagedReport } from '../managed/session.ts';
import { isObject, type Loose, objectAt, textAt } from '../process/rpc-peer.ts';
import { headline, publicText } from '../public-text.ts';

const KEPT = 256;

/** Watches a stream of messages for what a person should know: commands that ran, files that changed. */
export function createClaudeReports(cwd: string): (message: Loose) => ManagedReport[] {
  const usesById = new Map<string, Loose>();

  function used(block: Loose): void {
    usesById.set(textAt(block, 'id') ?? '', block);
    const [oldest] = usesById.keys();
    if (usesById.size > KEPT && oldest !== undefined) usesById.delete(oldest);
  }

  function done(block: Loose): ManagedReport[] {
    const id = textAt(block, 'tool_use_id') ?? '';
    const use = usesById.get(id);
    usesById.delete(id);
    if (use === undefined) return [];
    const input = objectAt(use, 'input');
    const failed = block['is_error'] === true;
    const command = textAt(input, 'command');
    if (use['name'] === 'Bash' && command !== undefined) {
      const message = `${failed ? 'failed or did not run' : 'ran'}: ${headline(command)}`;
      return [
        {
          event_type: 'task_progress',
          data: { message, command: publicText(command), cwd: publicText(cwd), ok: !failed },
        },
      ];
    }
    const file = textAt(input, 'file_path') ?? textAt(input, 'notebook_path');
    if (file === undefined || !/^(?:Edit|MultiEdit|Write|NotebookEdit)$/.test(textAt(use, 'name') ?? ''))
      return [];
    const path = publicText(file, 150);
    const message = `${failed ? 'did not change' : 'changed'} ${path}`;
    return [{ event_type: 'task_progress', data: { message, files: [path], done: !failed } }];
  }

  return (message) => {
    const { content } = objectAt(message, 'message');
    const blocks = Array.isArray(content) ? content.filter(isObject) : [];
    return blocks.flatMap((block) => {
      if (block['type'] === 'tool_use') used(block);
      return block['type'] === 'tool_result' ? done(block) : [];
    });
  };
}
