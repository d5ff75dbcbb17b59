import { useEffect, useState } from 'preact/hooks';

import { call, newKey, wordsOf } from '../data/api.ts';
import { Section } from './page.tsx';

const LOOK_MS = 2_000;

/** The rows of a managed session's terminal as plain text: nothing in them acts, and nothing is sent back. */
export function AgentScreen({ agentId }: { agentId: string }) {
  const [rows, set] = useState<readonly string[] | undefined>();
  const [failed, fail] = useState<string | undefined>();
  useEffect(() => {
    let gone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<void> => {
      try {
        if (!document.hidden) {
          const { success, result, error } = await call('command_agent', {
            of_agent: agentId,
            command: 'screen',
            timeout_ms: 5_000,
            idempotency_key: newKey(),
          });
          if (gone) return;
          if (success) set(toRows(result));
          fail(success ? undefined : error?.message);
        }
      } catch (error) {
        if (!gone) fail(wordsOf(error));
      }
      if (!gone) timer = setTimeout(() => void look(), LOOK_MS);
    };
    void look();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [agentId]);
  return (
    <Section title="Screen">
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      <pre class="screen scroll" tabIndex={0} aria-label={`Screen of ${agentId}`}>
        {rows?.join('\n') ?? ''}
      </pre>
    </Section>
  );
}

/** What is drawn and does nothing: neither control characters nor what hides or turns text around. */
const HARMLESS = /[^\t\n\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]/gu;

function toRows(result: unknown): string[] {
  const rows = (result as { rows?: unknown } | null)?.rows;
  return Array.isArray(rows) ? rows.slice(0, 500).map((row) => textOf(row).replaceAll(HARMLESS, '')) : [];
}

/** A row is a text, or runs whose first part is the text. */
function textOf(row: unknown): string {
  if (typeof row === 'string') return row;
  return Array.isArray(row) ? row.map((run) => textOf(Array.isArray(run) ? run[0] : run)).join('') : '';
}
