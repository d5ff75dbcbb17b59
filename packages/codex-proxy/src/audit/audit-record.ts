/** What stands in the audit log, without secrets in any field: a call of a tool, a turn and its end, which share their correlation id, or mail that starts no turn. */
export interface AuditRecord {
  ts: string;
  event: 'tool_call' | 'turn' | 'turn_end' | 'mail_held';
  correlation_id: string;
  team: string;
  identity: string | null;
  agent_id: string | null;
  /** The tool that was called, or who began the turn. */
  tool?: string;
  source?: string;
  to?: string;
  /** At most the first 200 characters of what was said. */
  summary?: string;
  message_ids?: readonly string[];
  /** How a turn ended; of a call only that it was refused. */
  status?: string;
  error_code?: number;
  error_name?: string;
  duration_ms?: number;
}

const SUMMARY_CHARS = 200;

/** The beginning of a text as the audit log keeps it; no character is cut in two. */
export function auditSummary(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  if (line.length <= SUMMARY_CHARS) return line;
  const cut = line.slice(0, SUMMARY_CHARS);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
