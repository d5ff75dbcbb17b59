import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import type { Place } from './proxy-client.ts';

export interface Entry {
  from: string;
  text: string;
  timestamp: string;
  read: boolean;
  message_id?: string;
  /** What Claude Code calls it. */
  msg_id?: string;
  summary?: string;
  source_team?: string;
  priority?: string;
}

/** A team as Claude Code lays it out in its user's home. */
export interface Team {
  folder: string;
  members(): string[];
  inbox(agent: string): Entry[];
  unread(agent: string): string[];
  unreadIds(agent: string): string[];
  readIds(agent: string): string[];
  path(agent: string): string;
  /** Puts mail into an inbox as its other writers do. */
  deliver(agent: string, ...mails: (Partial<Entry> & { text: string })[]): void;
  /** Takes the lock that Claude Code uses, until it is let go: mail can be read and not marked. */
  hold(agent: string): () => void;
}

/** Makes a team with a lead and these members. */
export function makeTeam({ home }: Place, name = 'default', members: string[] = []): Team {
  const folder = join(home, '.claude', 'teams', name);
  const config = join(folder, 'config.json');
  mkdirSync(join(folder, 'inboxes'), { recursive: true });
  const member = (agent: string) => ({
    agentId: `${agent}@${name}`,
    name: agent,
    agentType: 'general',
    joinedAt: 1,
  });
  const lead = `team-lead@${name}`;
  writeFileSync(
    config,
    JSON.stringify({ name, createdAt: 1, leadAgentId: lead, members: ['team-lead', ...members].map(member) }),
  );
  return openTeam(home, name);
}

/** A team that somebody has made. */
export function openTeam(home: string, name: string): Team {
  const folder = join(home, '.claude', 'teams', name);
  const config = join(folder, 'config.json');
  const path = (agent: string): string => join(folder, 'inboxes', `${agent}.json`);
  const inbox = (agent: string): Entry[] =>
    existsSync(path(agent)) ? (JSON.parse(readFileSync(path(agent), 'utf8')) as Entry[]) : [];
  let sent = 0;
  const idsOf = (agent: string, isRead: boolean): string[] =>
    inbox(agent).flatMap(({ read, message_id, msg_id }) =>
      read === isRead ? [message_id ?? msg_id ?? ''] : [],
    );
  return {
    folder,
    members: () =>
      (JSON.parse(readFileSync(config, 'utf8')) as { members: { name: string }[] }).members.map(
        (one) => one.name,
      ),
    inbox,
    path,
    unreadIds: (agent) => idsOf(agent, false),
    readIds: (agent) => idsOf(agent, true),
    unread: (agent) => inbox(agent).flatMap(({ read, text }) => (read ? [] : [text])),
    deliver(agent, ...mails) {
      const entries = mails.map((mail) => {
        sent += 1;
        const timestamp = new Date(Date.UTC(2026, 0, 1) + sent * 1_000).toISOString();
        return { from: 'alice', timestamp, read: false, message_id: `m${sent}`, ...mail };
      });
      writeFileSync(`${path(agent)}.new`, JSON.stringify([...inbox(agent), ...entries]));
      renameSync(`${path(agent)}.new`, path(agent));
    },
    hold(agent) {
      const lock = `${path(agent)}.lock`;
      mkdirSync(lock);
      const keep = setInterval(() => utimesSync(lock, new Date(), new Date()), 500);
      return () => {
        clearInterval(keep);
        rmdirSync(lock);
      };
    },
  };
}
