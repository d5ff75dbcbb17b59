export { requireCommander } from './agents/require-commander.ts';
export { createForgetKeeper } from './agents/forget-keeper.ts';
export { createStateWatcher, type StateWatcher } from './agents/state-watcher.ts';
export type { Commander, Links } from './agents/ports.ts';
export type { Link } from './agents/state.ts';
export type { ArtifactRecord } from './artifacts/artifact-record.ts';
export { BEGINNING_BYTES, checkBeginning } from './artifacts/policy.ts';
export type { Artifacts, StoredBytes } from './artifacts/ports.ts';
export { countOpenAsks } from './asks/count-open-asks.ts';
export { type AskKeeper, createAskKeeper } from './asks/keeper.ts';
export { createMuteKeeper, type MuteKeeper } from './participation/mute-keeper.ts';
export * from './clock.ts';
export { commandHead, type HeadPorts } from './command-head.ts';
export * from './commands.ts';
export { type Authority, type Granted, whySignedOut, withElders } from './devices/authority.ts';
export type { Grant, PersonGrant, PersonPlace } from './devices/grant.ts';
export { accountOf } from './devices/person-rules.ts';
export { createInvitations, type Invitation, type Invitations } from './devices/invitations.ts';
export * from './entry.ts';
export { createNonceKeeper } from './envelope/nonce-keeper.ts';
export { type Allowance, createRateWindow } from './envelope/rate-window.ts';
export { quarterOf } from './envelope/rules.ts';
export { createTurns } from './envelope/turns.ts';
export {
  addCounts,
  createSloWindow,
  JOB_BOUNDS_MS,
  type SloRecord,
  LATENCY_BOUNDS_MS,
  type Profile,
  type SloWindow,
} from './envelope/slo-window.ts';
export { createOffers, type Offers } from './evidence/offers.ts';
export type { Patience } from './agents/state.ts';
export { createUnreadCache } from './agents/unread-cache.ts';
export * from './feed.ts';
export { type FeedPoll, startFeedPoll } from './feed-poll.ts';
export type * from './gate.ts';
export * from './hub.ts';
export { hubCaller, OWN_WORKSPACE } from './hub-caller.ts';
export { isAnswered } from './knowledge/answer.ts';
export { createIndexFollower } from './knowledge/index-follower.ts';
export type { Answerer, DocumentIndex, Library } from './knowledge/library.ts';
export { createMessageFollower } from './messages/message-follower.ts';
export { createTreeKeeper } from './knowledge/keeper.ts';
export { createLeases, type JobName, type Leases } from './leases/leases.ts';
export { createOwnedJob, type OwnedJob } from './leases/owned-job.ts';
export { linksIn } from './knowledge/links.ts';
export { PURGE_AFTER_MS } from './knowledge/document-records.ts';
export type { Follower } from './live/fan-out.ts';
export {
  type CommandBody,
  type CommandOutcome,
  type CommandPort,
  type CommandRequest,
  type CommandResponse,
  isSealed,
  type Outcome,
  type Sealed,
  type Trouble,
  type Unanswered,
} from './live/command-port.ts';
export type { Link as LiveLink } from './live/link.ts';
export type { LiveEvent, LiveStatus, LiveUpdate, StatusOutcome } from './live/live-update.ts';
export * from './live/live.ts';
export * from './log.ts';
export type * from './ports.ts';
export { type ChannelRecord, type Messenger, type Notice, type NoticeOutcome } from './notify/notice.ts';
export { createNotifier, type NotifySettings } from './notify/notifier.ts';
export { issuePasskeyCode } from './passkeys/operations.ts';
export type { PasskeyChallenge, PasskeyProof, PasskeyRecord } from './passkeys/passkey-record.ts';
export { badSignature } from './passkeys/demand.ts';
export type { Passkeys } from './passkeys/ports.ts';
export { challengeOf, saidIn } from './passkeys/statement.ts';
export { askOf, evolveAsk } from './asks/evolve-ask.ts';
export { createPresenceBoard, type Presence, type PresenceBoard } from './participation/presence.ts';
export { CONTROL_AUTHORITY } from './participation/rules.ts';
export { POLICY_RULES } from './participation/policy.ts';
export { createProfileRegistry, type ProfileRegistry } from './participation/profile-registry.ts';
export { presenceEvent, toEvent } from './participation/to-event.ts';
export type { Dispatcher, DueDelivery } from './queue/dispatcher.ts';
export type { DueSignal, DueStream } from './queue/due-stream.ts';
export { createFairDispatcher } from './queue/fair-dispatcher.ts';
export { createStreamDispatcher } from './queue/stream-dispatcher.ts';
export type { QueueEvent, QueueObserver } from './queue/observer.ts';
export { createReads } from './envelope/reads.ts';
export { createDeliveryQueue, type DeliveryQueue, type QueueSettings } from './queue/delivery-queue.ts';
export * from './quota.ts';
export { isRecorded } from './recorded-errors.ts';
export * from './records.ts';
export type { StoredSession } from './sessions/stored-session.ts';
export type { AnswerOf } from './gate.ts';
export type { ResultOf } from './commands.ts';
export { hidesSecrets, shareable } from './shareable.ts';
export * from './store.ts';
export { openMemoryStore } from './store-memory.ts';
export { STATE_FILES, type StateFile, type StateFiles, type StateFileName } from './state-files.ts';
export { keepForgettingKeys } from './key-keeper.ts';
export { openTimeKeeper, type TimeKeeper } from './time-keeper.ts';
export { clockState, type Jump, type KnownTime } from './trusted-time.ts';
export {
  admit,
  admitReader,
  checkThreadScope,
  isForeign,
  journalId,
  JOURNAL_PREFIX,
  type Located,
  treeId,
  workspaceTag,
} from './threads/access.ts';
export { createThreadFold, DERIVED_KINDS, type ThreadFold } from './thread-fold.ts';
export type { ThreadState } from './threads/state.ts';
export * from './threads/thread-filter.ts';
export { mayOverride, TRANSITIONS } from './threads/status.ts';
export type { Prose } from './threads/summary.ts';
export { createUsageKeeper } from './usage/usage-keeper.ts';
export { createArrivals } from './wake/arrivals.ts';
export { createCallFollower } from './wake/follow-calls.ts';
export * from './wake/door.ts';
export { LADDERS } from './wake/ladder.ts';
export { HUMAN_INPUT, NO_PROMPT, SKIP_REASONS, type WakeSettings } from './wake/policy.ts';
export type { WakeProfile, Waker } from './wake/ports.ts';
export { createReturns } from './wake/returns.ts';
export { createWaker } from './wake/waker.ts';
export type { Wake } from './wake/wake.ts';
export { createWaitingSessions, type FoundSession, type WaitingSessions } from './wake/waiting-sessions.ts';
export type { Bus, BusHealth } from './nodes/bus.ts';
export { createMirror, type Mirror, type MirrorPart } from './nodes/mirror.ts';
export { createNodeCalls, type NodeCalls } from './nodes/node-calls.ts';
export type { Nodes } from './nodes/nodes.ts';
export { routeCalls } from './nodes/routed-hub.ts';
export { shareFeed } from './nodes/shared-feed.ts';
export { shareInvitations } from './nodes/shared-invitations.ts';
export { sharePresence } from './nodes/shared-presence.ts';
export { createSharedSpending, type ShareCount, type SharedSpending } from './nodes/shared-spending.ts';
export type { AskNews } from './asks/keeper.ts';
export type { HeardSession } from './wake/arrivals.ts';
export { isLeaseLost } from './leases/lease-record.ts';
