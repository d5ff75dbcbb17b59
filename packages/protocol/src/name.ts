/** Names of agents, workspaces, sessions: never a flag, a path or a shell word. */
export const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}$/;
