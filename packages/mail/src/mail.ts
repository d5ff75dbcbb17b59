import { join } from 'node:path';

import { ParleyError, errorText } from '@parley/protocol';

import { type Address, checkName, fileName, parseAddress } from './address.ts';
import { compose, isSameMail, type NewMail } from './compose.ts';
import { idOf, isMailEntry, type MailEntry } from './entry.ts';
import { look, sameFile } from './files/read-json.ts';
import { type Inbox, openInbox } from './inbox.ts';
import { type Mail, type MailQuery, matcher, toMail } from './query.ts';
import { addMember, type Member, type NewMember, readMembers, removeMember } from './team-config.ts';
import { teamFolder } from './team-folder.ts';
import { openTranscriptMail } from './transcript-mail.ts';
import { type Watch, watchFile } from './watch-file.ts';

export interface MailOptions {
  /** The folder of all teams, `.claude/teams` in the user's home. */
  teams: string;
  /** Where the archives are, `.config/atm/mail`. */
  archive: string;
  /** Where Claude Code keeps its transcripts, `.claude/projects`: mail that was deleted before we saw it is found there. */
  projects?: string;
  /** The team of an address that names none. */
  team: string;
  aliases?: ReadonlyMap<string, string>;
  /** How often a watched inbox is looked at when no change is told. */
  pollMs?: number;
  now: () => Date;
  newId: () => string;
  log: (level: 'warn', message: string, facts: Record<string, unknown>) => void;
}

/** Where a mail went; it is on disk, in the inbox and in the archive. */
export interface SentMail {
  message_id: string;
  /** `agent@team`. */
  to: string;
  summary: string;
  /** True when this id had been sent before and nothing was written. */
  duplicate: boolean;
}

/** What became of a broadcast, recipient by recipient. */
export interface BroadcastReport {
  message_id: string;
  sent: SentMail[];
  failed: { to: string; code: string; reason: string }[];
}

/** A mail as the archive has it. */
export interface SeenMail extends Mail {
  /** When it was first seen. */
  seen_at: string;
  /** The place in the archive right after it. */
  end: number;
}

/** The mail of one team; every call names the agent that it is made for. */
export interface TeamMail {
  /** Sends under the agent's own name; the same `message_id` again sends nothing. */
  send(from: string, mail: NewMail & { to: string }): Promise<SentMail>;
  /** Sends to every member but the sender, of this team or another. */
  broadcast(from: string, mail: NewMail & { team?: string | undefined }): Promise<BroadcastReport>;
  /** Unread mail, or all; what it returns is marked unless `mark_read` is false. */
  read(agent: string, query?: MailQuery & { mark_read?: boolean | undefined }): Promise<Mail[]>;
  /** What came to an agent in the order in which it was seen, from a place in its archive on; a page at a time, marks nothing. */
  history(agent: string, from: number): Promise<{ mails: SeenMail[]; next: number }>;
  /** How many are unread; marks nothing. */
  pending(agent: string): Promise<number>;
  /** Marks mail by its ids, as soon as it has reached its reader. */
  markRead(agent: string, ids: readonly string[]): Promise<void>;
  /** Calls when an inbox has changed. */
  watch(agent: string, onChange: () => void): Watch;
  members(team?: string): Promise<Member[]>;
  /** Makes an agent a member; false when it is one. */
  join(agent: string, more: NewMember): Promise<boolean>;
  /** Takes out a member that `join` made; false when there is none. */
  leave(agent: string): Promise<boolean>;
  close(): void;
}

/** Long enough for a lock whose holder died to be taken for stale. */
const WAIT_MS = 15_000;

/** Opens the mail of a team; the folders need not be there yet. */
export function openMail(options: MailOptions): TeamMail {
  const { teams, team, aliases = new Map<string, string>(), pollMs = 5_000, now, newId, log } = options;
  const inboxes = new Map<string, Inbox>();
  const watches = new Set<Watch>();
  /** What was unread when the files were last read, so that unchanged ones are not read again. */
  const countByAgent = new Map<string, { files: ReturnType<typeof look>[]; unread: number }>();
  let warned = false;
  const onNoFlock = (): void => {
    if (!warned)
      log('warn', 'there is no flock program: writers of the original ATM are not waited for', { team });
    warned = true;
  };
  const folderOf = (name: string) => teamFolder(teams, name);
  const archiveOf = (name: string, file: string) => join(options.archive, fileName(name), file);
  const inboxOf = (address: Address): Inbox => {
    const stem = archiveOf(address.team, fileName(address.agent));
    const { agent } = address;
    const found =
      inboxes.get(stem) ??
      openInbox({ folder: folderOf(address.team), agent, archive: stem, waitMs: WAIT_MS, now, onNoFlock });
    inboxes.set(stem, found);
    return found;
  };
  const transcripts =
    options.projects === undefined ? undefined : openTranscriptMail(options.projects, folderOf(team));
  /** Puts into the archive what its reader had deleted before anybody of ours looked. */
  const recover = async (agent: string, inbox: Inbox): Promise<void> => {
    const sent = (await transcripts?.sentTo(agent, (id) => inbox.archive.has(id))) ?? [];
    if (sent.length === 0) return;
    await inbox.keep((draft) => {
      const here = new Set(draft.entries.filter(isMailEntry).map(idOf));
      for (const entry of sent)
        if (!here.has(idOf(entry))) draft.archive(entry, { at: entry.timestamp, found_in: 'transcript' });
    });
  };
  const own = (agent: string): Inbox => inboxOf({ agent: checkName('an agent', agent), team });

  const deliver = async (address: Address, entry: MailEntry & { message_id: string; summary: string }) => {
    const inbox = inboxOf(address);
    const duplicate = await inbox.change((draft) => {
      const there = draft.entries.filter(isMailEntry).find((other) => idOf(other) === entry.message_id);
      if (there === undefined && draft.isArchived(entry.message_id)) return 'archived';
      if (there === undefined) return draft.add(entry);
      draft.archive(there);
      return there;
    });
    const before = duplicate === 'archived' ? await findArchived(inbox, entry.message_id) : duplicate;
    if (before !== undefined && !isSameMail(before, entry))
      throw new ParleyError('IDEMPOTENCY_CONFLICT', `another mail was sent with the id ${entry.message_id}`);
    const { message_id, summary } = entry;
    return { message_id, to: `${address.agent}@${address.team}`, summary, duplicate: before !== undefined };
  };
  const write = (from: string, mail: NewMail, target: string, members: readonly Member[]) =>
    compose({ from: checkName('an agent', from), mail, ownTeam: team, target, members, now, newId });

  return {
    async send(from, mail) {
      const address = parseAddress(mail.to, team, aliases);
      const members = await readMembers(folderOf(address.team));
      checkRecipient(address, members, look(folderOf(address.team).inbox(address.agent)) !== undefined);
      return deliver(address, write(from, mail, address.team, members));
    },
    async broadcast(from, mail) {
      const target = mail.team === undefined ? team : checkName('a team', mail.team);
      const members = await readMembers(folderOf(target));
      const entry = write(from, mail, target, members);
      const report: BroadcastReport = { message_id: entry.message_id, sent: [], failed: [] };
      const recipients = members.filter(({ name }) => target !== team || name !== from);
      await Promise.all(
        recipients.map(async ({ name: agent }) => {
          try {
            report.sent.push(await deliver({ agent: checkName('an agent', agent), team: target }, entry));
          } catch (error) {
            const code = error instanceof ParleyError ? error.code : 'INTERNAL';
            report.failed.push({ to: `${agent}@${target}`, code, reason: errorText(error) });
          }
        }),
      );
      return report;
    },
    async read(agent, { mark_read = true, ...query } = {}) {
      const isWanted = matcher(query);
      const inbox = own(agent);
      const unread = await takeUp(inbox);
      const found: Mail[] = [];
      if (query.all === true) {
        await recover(agent, inbox);
        for await (const { id, entry, found_in } of inbox.archive.list())
          found.push(toMail(entry, !unread.has(id), found_in));
      } else for (const entry of unread.values()) found.push(toMail(entry, false));
      const wanted = found.filter(isWanted);
      const { limit = wanted.length, all = false } = query;
      const chosen = all ? wanted.slice(Math.max(0, wanted.length - limit)) : wanted.slice(0, limit);
      const toMark = chosen.filter((mail) => !mail.read).map((mail) => mail.message_id);
      if (mark_read && toMark.length > 0) await inbox.change((draft) => draft.markRead(new Set(toMark)));
      return chosen;
    },
    async history(agent, from) {
      const { archive } = own(agent);
      await takeUp(own(agent));
      await recover(agent, own(agent));
      const { mails, next } = await archive.page(from);
      return {
        mails: mails.map(({ id, at, entry, end, found_in }) => ({
          ...toMail(entry, entry.read === true || archive.wasRead(id), found_in),
          seen_at: at,
          end,
        })),
        next,
      };
    },
    async pending(agent) {
      const inbox = own(agent);
      // Taken before the files are read: a change in between is seen the next time.
      const before = [folderOf(team).inbox(agent), `${archiveOf(team, fileName(agent))}.jsonl`].map(look);
      const known = countByAgent.get(agent);
      if (known !== undefined && before.every((file, i) => sameFile(file, known.files[i])))
        return known.unread;
      const entries = await inbox.entries();
      await inbox.archive.refresh();
      const unread = unreadOf(entries, (id) => inbox.archive.wasRead(id)).size;
      countByAgent.set(agent, { files: before, unread });
      return unread;
    },
    async markRead(agent, ids) {
      if (ids.length === 0) return;
      const inbox = own(agent);
      const meant = new Set(ids);
      const unread = (await inbox.entries()).some((entry) => entry.read !== true && meant.has(idOf(entry)));
      // What has gone from the inbox, perhaps with its whole team, is remembered as read all the same.
      if (unread) await inbox.change((draft) => draft.markRead(meant));
      else await inbox.keep((draft) => draft.markRead(meant));
    },
    watch(agent, onChange) {
      const watched = watchFile(folderOf(team).inbox(checkName('an agent', agent)), pollMs, onChange);
      watches.add(watched);
      return {
        close() {
          watches.delete(watched);
          watched.close();
        },
      };
    },
    members: async (name = team) => readMembers(folderOf(checkName('a team', name))),
    join: (agent, more) => addMember(configOf(), checkName('an agent', agent), more, now()),
    leave: (agent) => removeMember(configOf(), agent),
    close() {
      for (const watched of watches) watched.close();
      watches.clear();
    },
  };

  function configOf() {
    const lock = archiveOf(team, '.team.lock');
    return { folder: folderOf(team), lock, options: { waitMs: WAIT_MS, onNoFlock } };
  }
}

/** Puts what is new in an inbox into its archive, and returns what is unread, the oldest first. */
async function takeUp(inbox: Inbox): Promise<Map<string, MailEntry>> {
  await inbox.archive.refresh();
  const entries = await inbox.entries();
  if (entries.every((entry) => inbox.archive.has(idOf(entry))))
    return unreadOf(entries, (id) => inbox.archive.wasRead(id));
  return inbox.keep((draft) => {
    const mails = draft.entries.filter(isMailEntry);
    // What its reader has deleted since the first look was there all the same.
    for (const entry of [...entries, ...mails]) draft.archive(entry);
    return unreadOf(mails, (id) => draft.wasRead(id));
  });
}

function unreadOf(entries: readonly MailEntry[], wasRead: (id: string) => boolean): Map<string, MailEntry> {
  const unread = new Map<string, MailEntry>();
  for (const entry of entries) {
    const id = idOf(entry);
    if (entry.read !== true && !wasRead(id) && !unread.has(id)) unread.set(id, entry);
  }
  return unread;
}

async function findArchived(inbox: Inbox, wanted: string): Promise<MailEntry | undefined> {
  for await (const { id, entry } of inbox.archive.list()) if (id === wanted) return entry;
  return undefined;
}

function checkRecipient({ agent, team }: Address, members: readonly Member[], hasInbox: boolean): void {
  if (hasInbox || members.some(({ name }) => name === agent)) return;
  const known = members.map(({ name }) => name).join(', ') || 'none';
  throw new ParleyError('NOT_FOUND', `team ${team} has no member ${agent}; there are: ${known}`, {
    agent,
    team,
  });
}
