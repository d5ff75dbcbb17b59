/** How a child ended, and the last it said on stderr, without secrets. */
export interface ChildExit {
  code: number | null;
  signal: NodeJS.Signals | null;
  stderr: string;
}
