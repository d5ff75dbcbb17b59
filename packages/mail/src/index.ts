export { fileName as inboxName, sameInbox } from './address.ts';
export { writeWhole } from './files/write-whole.ts';
export {
  type BroadcastReport,
  type TeamMail,
  type MailOptions,
  openMail,
  type SeenMail,
  type SentMail,
} from './mail.ts';
export { type ArchiveLimits, pruneArchives } from './prune-archives.ts';
export type { Mail, MailQuery } from './query.ts';
export { LEAD, type Member, type NewMember } from './team-config.ts';
export { isControlFrame, summaryOf, truncate } from './text.ts';
export type { Watch } from './watch-file.ts';
