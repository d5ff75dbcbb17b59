/** The folder an agent works in, as it reports it. */
export function folderOf({
  metadata,
}: {
  metadata?: Record<string, unknown> | undefined;
}): string | undefined {
  for (const name of ['worktree', 'cwd', 'folder']) {
    const value = metadata?.[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}
