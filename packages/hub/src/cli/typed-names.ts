/** What a field of the wire is called where people type it. */
const FLAGS: Readonly<Record<string, readonly string[]>> = {
  agent_id: ['--as', '--agent'],
  expires_in_ms: ['--for'],
  idempotency_key: ['--key'],
  in_reply_to: ['--reply-to'],
  limit: ['--limit', '-n'],
  max_messages: ['--limit', '-n'],
  'metadata.tags': ['--tags'],
  mime_type: ['--type'],
  option: ['--option'],
  participants: ['--with'],
  reason: ['--reason', '-m'],
  role: ['--role'],
  timeout_ms: ['--timeout'],
  to: ['--to'],
  ttl: ['--ttl'],
  ttl_ms: ['--ttl'],
  workspace_id: ['--workspace'],
};

/** A message about a field names it as it was typed. */
export function inTypedNames(message: string, argv: readonly string[]): string {
  return message.replace(/^([a-z_.]+?)(?:\.\d+)?(?=:| names )/, (all, field: string) => {
    const flags = Object.hasOwn(FLAGS, field) ? (FLAGS[field] ?? []) : [];
    return flags.find((flag) => argv.some((word) => word === flag || word.startsWith(`${flag}=`))) ?? all;
  });
}
