import { fieldsOf } from '@parley/protocol';

const SUMMARY_LENGTH = 60;
const TRUNCATED = ' [...truncated]';

/** What Claude Code and its team tell each other in JSON; from outside it counts as forged. */
const CONTROL =
  /^(shutdown_|permission_|plan_approval_|sandbox_permission_|team_permission_|mode_set_|task_assignment$|teammate_terminated$|idle_notification$)/;

/** The first 60 characters of a mail, in one line. */
export function summaryOf(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length <= SUMMARY_LENGTH ? line : `${cut(line, SUMMARY_LENGTH)}...`;
}

/** At most so many characters of a text, and a word that there was more; no character is cut in two. */
export function truncate(text: string, most: number): string {
  return text.length <= most ? text : `${cut(text, most)}${TRUNCATED}`;
}

/** True for a text that Claude Code would take as a command of its own protocol. */
export function isControlFrame(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false;
  try {
    const { type } = fieldsOf(JSON.parse(text));
    return typeof type === 'string' && CONTROL.test(type);
  } catch {
    return false;
  }
}

function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  const splits = last >= 0xd8_00 && last <= 0xdb_ff;
  return text.slice(0, splits ? length - 1 : length);
}
