export type { Commander, Links } from './agents/ports.ts';
export type { Link } from './agents/state.ts';
export type { KeptArtifact } from './artifacts/kept.ts';
export { BEGINNING_BYTES, checkBeginning } from './artifacts/policy.ts';
export type { Artifacts, KeptBytes } from './artifacts/ports.ts';
export { type AskKeeper, createAskKeeper } from './asks/keeper.ts';
export { createMuteKeeper, type MuteKeeper } from './participation/mute-keeper.ts';
export * from './clock.ts';
export * from './commands.ts';
export { type Authority, type Grant, type Granted, whySignedOut, withElders } from './devices/authority.ts';
export { createInvitations, type Invitation, type Invitations } from './devices/invitations.ts';
export * from './entry.ts';
export { quarterOf } from './envelope/rules.ts';
export {
  createSloWindow,
  LATENCY_BOUNDS_MS,
  type Profile,
  type SloDump,
  type SloWindow,
} from './envelope/slo-window.ts';
export { createOffers, type Offers } from './evidence/offers.ts';
export * from './feed.ts';
export * from './hub.ts';
export { hubCaller, OWN_WORKSPACE } from './hub-caller.ts';
export { createIndexFollower } from './knowledge/index-follower.ts';
export type { Answerer, DocumentIndex, Library } from './knowledge/library.ts';
export { createMessageFollower } from './messages/message-follower.ts';
export { createTreeKeeper, type TreeKeeper } from './knowledge/keeper.ts';
export { linksIn } from './knowledge/links.ts';
export { PURGE_AFTER_MS } from './knowledge/kept.ts';
export type { Follower } from './live/fan-out.ts';
export { CLOSE, type Link as LiveLink, type Speaker } from './live/link.ts';
export * from './live/live.ts';
export * from './log.ts';
export { type About, type CallContext, type Deps } from './operation.ts';
export { type KeptChannel, type Messenger, type Notice, type Outcome } from './notify/notice.ts';
export { createNotifier, type NotifySettings } from './notify/notifier.ts';
export { createPresenceBoard, type Presence, type PresenceBoard } from './participation/presence.ts';
export { CONTROL_AUTHORITY } from './participation/rules.ts';
export { POLICY_RULES } from './participation/policy.ts';
export { createProfileRegistry, type ProfileRegistry } from './participation/profile-registry.ts';
export { presenceEvent, toEvent } from './participation/to-event.ts';
export type { Carrier, Ticket } from './queue/carrier.ts';
export { createLanes } from './queue/lanes.ts';
export type { QueueEvent, QueueObserver } from './queue/observer.ts';
export { createPostOffice, type PostOffice, type PostSettings } from './queue/post-office.ts';
export * from './quota.ts';
export * from './records.ts';
export { shareable } from './shareable.ts';
export * from './store.ts';
export { openMemoryStore } from './store-memory.ts';
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
export { mayOverride, TRANSITIONS } from './threads/status.ts';
export type { Prose } from './threads/summary.ts';
export { createCallFollower } from './wake/follow-calls.ts';
export * from './wake/door.ts';
export { LADDERS } from './wake/ladder.ts';
export { HUMAN_INPUT, SKIP_REASONS, type WakeSettings } from './wake/policy.ts';
export type { WakeProfile, Waker } from './wake/ports.ts';
export { createWaker } from './wake/waker.ts';
export type { Wake } from './wake/wake.ts';
export { createWakeDesk, type FoundSession, type WakeDesk } from './wake/wake-desk.ts';
