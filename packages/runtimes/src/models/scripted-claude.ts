/** What keeps a Claude Code before a scripted model off the network. */
export const QUIET_CLAUDE = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_BUG_COMMAND: '1',
  IS_SANDBOX: '1',
  // A client whose owner was killed must not go on asking or waiting.
  CLAUDE_CODE_MAX_RETRIES: '0',
  MCP_TOOL_TIMEOUT: '30000',
};

/** The key by which it asks a scripted model. */
export const CLAUDE_KEY = 'sk-scripted';

/** What Claude Code remembers of a person who has answered all that it asks at first. */
export function pastFirstQuestions(folder: string) {
  return {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [CLAUDE_KEY], rejected: [] },
    projects: { [folder]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  };
}
