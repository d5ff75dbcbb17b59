/** Whether this runs in CI, where nothing may be skipped: `CI` is set, and to something else than 0 or false. */
export function inCi(env: NodeJS.ProcessEnv = process.env): boolean {
  return !['', '0', 'false'].includes(env['CI'] ?? '');
}
