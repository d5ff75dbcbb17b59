export { openAcpSession, openManagedAcp } from './acp/managed-acp.ts';
export { claudeInbox } from './claude/claude-inbox.ts';
export { type ClaudePrintOptions, startClaudePrint } from './claude/claude-print.ts';
export { openManagedClaude } from './claude/managed-claude.ts';
export { liveClaudeSessions } from './claude/live-sessions.ts';
export { wakesInTranscript } from './claude/transcript.ts';
export { askOf, decisionOfVerdict, messageOf, schemaOf } from './codex/approval-ask.ts';
export type * from './codex/backend.ts';
export { type CodexExecOptions, startCodexExec } from './codex/codex-exec.ts';
export { codexInbox, codexSocket } from './codex/codex-inbox.ts';
export { describeEvent } from './codex/describe-event.ts';
export { spentByCodex } from './codex/spent-by-codex.ts';
export { DEFAULT_LIMITS } from './codex/limits.ts';
export { type LiveCodex, openLiveCodex } from './codex/live-codex.ts';
export { openManagedCodex } from './codex/managed-codex.ts';
export { awaitCodexThread } from './codex/own-thread.ts';
export { openCodex } from './codex/open-codex.ts';
export type * from './inbox.ts';
export type * from './managed/session.ts';
export {
  type MessagesBlock,
  type MessagesRequest,
  type MessagesScript,
  type MessagesStep,
  startAnthropicMessages,
} from './models/anthropic-messages.ts';
export { type LoopbackServer, openLoopbackServer, sendJson } from './models/loopback-server.ts';
export { type ChatRequest, type ChatScript, type ChatStep, startOpenaiChat } from './models/openai-chat.ts';
export {
  type ResponsesItem,
  type ResponsesRequest,
  type ResponsesScript,
  type ResponsesStep,
  type ResponsesTool,
  startOpenaiResponses,
} from './models/openai-responses.ts';
export { CLAUDE_KEY, pastFirstQuestions, QUIET_CLAUDE } from './models/scripted-claude.ts';
export { scriptedModelConfig } from './models/scripted-codex.ts';
export { opencodeConfig, opencodeConfigFile, quietOpencode } from './models/scripted-opencode.ts';
export { versionOf } from './process/ask-program.ts';
export type { ChildExit } from './process/child-exit.ts';
export { findProgram, whichProgram } from './process/find-program.ts';
export type { HeadlessTurn } from './process/headless.ts';
export { RUNTIME_ERROR_CODES, RuntimeError, type RuntimeErrorCode } from './runtime-error.ts';
export { isOpenSession } from './spent/is-open-session.ts';
export { type ReadFiles, readSession, type RecordedSession, sizesOf } from './spent/session-record.ts';
export { recordsOf, sessionsOfProgram } from './spent/sessions-of-program.ts';
export type { SpentTurn } from './spent/spent-turn.ts';
export { createDoor, type Door, type DoorPatience } from './terminal/door.ts';
export { createInputReader, type InputPiece } from './terminal/input-reader.ts';
export { openPty, type Pty, type PtyExit } from './terminal/open-pty.ts';
export type { Screen } from './terminal/open-screen.ts';
export { kindOf } from './terminal/programs.ts';
export type { ScreenLine } from './terminal/screen-line.ts';
export { APP_CURSOR, BRACKETED_PASTE } from './terminal/terminal-modes.ts';
export { createTyping } from './terminal/typing.ts';
export { clip, headline, publicText } from './public-text.ts';
