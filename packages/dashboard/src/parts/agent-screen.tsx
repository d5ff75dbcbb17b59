import { fieldsOf } from '@parley/protocol';
import { useState } from 'preact/hooks';

import { call, newKey, wordsOf } from '../data/api.ts';
import { Icon } from './icon.tsx';
import { Section } from './page.tsx';

/** The command by which a supervisor shows the terminal it has in hand. */
export const SCREEN_COMMAND = 'terminal_screen';

/**
 * The rows of a managed session's terminal as plain text: nothing in them acts, and nothing is sent back.
 * Each look is a command and stands on record, so nobody looks unless asked to.
 */
export function AgentScreen({ agentId }: { agentId: string }) {
  const [rows, set] = useState<readonly string[] | undefined>();
  const [failed, fail] = useState<string | undefined>();
  const [looking, look] = useState(false);
  const refresh = async (): Promise<void> => {
    look(true);
    try {
      const { success, result, error } = await call('command_agent', {
        of_agent: agentId,
        command: SCREEN_COMMAND,
        timeout_ms: 5_000,
        idempotency_key: newKey(),
      });
      if (success) set(toRows(result));
      fail(success ? undefined : error?.message);
    } catch (error) {
      fail(wordsOf(error));
    }
    look(false);
  };
  return (
    <Section title="Screen">
      <div class="button-row">
        <button type="button" class="button" disabled={looking} onClick={() => void refresh()}>
          <Icon name="search" /> {rows === undefined ? 'Look at its screen' : 'Look again'}
        </button>
      </div>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {rows === undefined ? null : (
        <pre class="screen scroll" tabIndex={0} aria-label={`Screen of ${agentId}`}>
          {rows.join('\n')}
        </pre>
      )}
    </Section>
  );
}

/** What is drawn and does nothing: neither control characters nor what hides or turns text around. */
const HARMLESS = /[^\t\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]/gu;

function toRows(result: unknown): string[] {
  const { lines } = fieldsOf(result);
  if (!Array.isArray(lines)) return [];
  const rows = lines.slice(0, 500).map((line) => String(line).replaceAll(HARMLESS, '').trimEnd());
  const last = rows.findLastIndex((row) => row !== '');
  return rows.slice(0, last + 1);
}
