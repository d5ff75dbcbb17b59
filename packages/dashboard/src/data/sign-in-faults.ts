const FAULTS: Record<string, string> = {
  stale: 'This sign-in took too long, or was begun in another tab. Please try again.',
  cancelled: 'You did not sign in.',
  refused: 'The sign-in could not be confirmed. Please try again.',
  unreachable: 'The sign-in service does not answer. Please try again in a moment.',
  nobody: 'Your account has no access to this hub. Ask the person who runs it to let you in.',
  nameless: 'Your account has no name that can be used here. Ask the person who runs this hub.',
  taken: 'Your name already belongs to somebody else here. Ask the person who runs this hub.',
  often: 'There were too many tries. Please wait a minute.',
};

/** What to tell a person of a sign-in that came to nothing. */
export function faultWords(why: string): string | undefined {
  return (Object.hasOwn(FAULTS, why) ? FAULTS[why] : undefined) ?? FAULTS['refused'];
}
