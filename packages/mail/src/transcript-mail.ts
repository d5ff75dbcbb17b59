import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { fieldsOf } from '@parley/protocol';
import { fileName, sameInbox } from './address.ts';
import { idOf, type MailEntry } from './entry.ts';
import { readJson } from './files/read-json.ts';
import type { TeamFolder } from './team-folder.ts';

/** Mail between Claude Code's own agents, as it stands in the transcripts of their session. */
export interface TranscriptMail {
  /** What was sent to an agent and is not known yet, the oldest first. */
  sentTo(agent: string, isKnown: (id: string) => boolean): Promise<MailEntry[]>;
}

/** One transcript: how far it was read, who wrote it, and which calls of its tool for mail have no answer yet. */
interface Transcript {
  path: string;
  sender: string;
  agentId: string | undefined;
  offset: number | undefined;
  rest: string;
  calls: Map<string, { to: string; message: string }>;
}

type Json = Record<string, unknown>;

const SESSION_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const SUBAGENT = /^agent-([A-Za-z0-9_-]{1,128})\.jsonl$/;
/** How much of a transcript is read at the first look, and at each one after it. */
const FIRST_BYTES = 8_388_608;
const MOST_BYTES = 4_194_304;
const MOST_LINE = 4_194_304;
const MOST_CALLS = 256;
const MOST_KEPT = 1_000;
const MOST_TRANSCRIPTS = 64;

/**
 * Reads the transcripts of the session that leads the team, and of no other. What counts as mail is a call of Claude
 * Code's own SendMessage together with its success, both records of Claude Code: whatever agents, pages or tools say
 * stands inside such records as text, and is never taken for one.
 */
export function openTranscriptMail(projects: string, folder: TeamFolder): TranscriptMail {
  const transcripts = new Map<string, Transcript>();
  const sentByInbox = new Map<string, MailEntry[]>();
  let reading: Promise<void> | undefined;

  async function find(): Promise<void> {
    const lead = await leadOf(folder);
    if (lead === undefined) return;
    for (const project of await readdir(projects).catch(() => [])) {
      const own = join(projects, project, `${lead.sessionId}.jsonl`);
      if (!transcripts.has(own) && (await isThere(own))) add(own, lead.name, undefined);
      if (!transcripts.has(own)) continue;
      const agents = join(projects, project, lead.sessionId, 'subagents');
      for (const file of await readdir(agents).catch(() => [])) {
        const agentId = SUBAGENT.exec(file)?.[1];
        const path = join(agents, file);
        if (agentId === undefined || transcripts.has(path)) continue;
        const sender = await teammateOf(path, folder.team);
        if (sender !== undefined) add(path, sender, agentId);
      }
    }
  }

  function add(path: string, sender: string, agentId: string | undefined): void {
    if (transcripts.size >= MOST_TRANSCRIPTS) return;
    transcripts.set(path, { path, sender, agentId, offset: undefined, rest: '', calls: new Map() });
  }

  function keep(entry: MailEntry, to: string): void {
    const inbox = fileName(to);
    const sent = sentByInbox.get(inbox) ?? [];
    sentByInbox.set(inbox, sent);
    sent.push(entry);
    if (sent.length > MOST_KEPT) sent.shift();
  }

  async function look(): Promise<void> {
    await find();
    for (const transcript of transcripts.values())
      for (const record of await newRecords(transcript)) take(transcript, record);
  }

  function take(transcript: Transcript, record: Json): void {
    const { sender, agentId, calls } = transcript;
    if (agentId !== undefined && record['agentId'] !== agentId) return;
    if (record['isSidechain'] !== (agentId !== undefined)) return;
    if (record['type'] === 'assistant') {
      for (const [id, call] of callsIn(record)) {
        calls.set(id, call);
        const [oldest] = calls.keys();
        if (calls.size > MOST_CALLS && oldest !== undefined) calls.delete(oldest);
      }
      return;
    }
    if (record['type'] !== 'user') return;
    const id = answeredCall(record);
    const call = id === undefined ? undefined : calls.get(id);
    if (id === undefined || call === undefined) return;
    calls.delete(id);
    const entry = mailOf(record, call, sender);
    if (entry !== undefined) keep(entry, call.to);
  }

  return {
    async sentTo(agent, isKnown) {
      await (reading ??= look().finally(() => (reading = undefined)));
      const inbox = fileName(agent);
      const unknown = (sentByInbox.get(inbox) ?? []).filter((entry) => !isKnown(idOf(entry)));
      sentByInbox.set(inbox, unknown);
      return unknown;
    },
  };
}

/** Who leads the team, in which session; undefined while nobody says so. */
async function leadOf({ config }: TeamFolder): Promise<{ sessionId: string; name: string } | undefined> {
  try {
    const file = await readJson(config);
    await file.close();
    const { leadSessionId, leadAgentId } = fieldsOf(file.value);
    if (typeof leadSessionId !== 'string' || !SESSION_ID.test(leadSessionId)) return undefined;
    const [name = ''] = typeof leadAgentId === 'string' ? leadAgentId.split('@') : ['team-lead'];
    return { sessionId: leadSessionId, name };
  } catch {
    return undefined;
  }
}

/** The name of the teammate whose transcript it is; undefined for agents that are none of this team. */
async function teammateOf(path: string, team: string): Promise<string | undefined> {
  try {
    const meta = fieldsOf(JSON.parse(await readFile(path.replace(/\.jsonl$/, '.meta.json'), 'utf8')));
    const { name, teamName } = meta;
    return teamName === team && typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}

async function isThere(path: string): Promise<boolean> {
  const file = await openPlain(path);
  await file?.close();
  return file !== undefined;
}

async function openPlain(path: string): Promise<FileHandle | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (file === undefined || (await file.stat()).isFile()) return file;
  await file.close();
  return undefined;
}

/** The records that were added since the last look, as far as that goes at once. */
async function newRecords(transcript: Transcript): Promise<Json[]> {
  const file = await openPlain(transcript.path);
  if (file === undefined) return [];
  try {
    const { size } = await file.stat();
    const from = transcript.offset ?? Math.max(0, size - FIRST_BYTES);
    const most = transcript.offset === undefined ? FIRST_BYTES : MOST_BYTES;
    if (size < from) transcript.rest = '';
    const start = size < from ? 0 : from;
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(Math.min(most, size - start)),
      0,
      Math.min(most, size - start),
      start,
    );
    transcript.offset = start + bytesRead;
    const lines = (transcript.rest + buffer.toString('latin1', 0, bytesRead)).split('\n');
    const rest = lines.pop() ?? '';
    transcript.rest = rest.length > MOST_LINE ? '' : rest;
    return lines.flatMap((line) => recordIn(Buffer.from(line, 'latin1')));
  } finally {
    await file.close();
  }
}

/** Only lines that may concern mail are worth reading. */
function recordIn(line: Buffer): Json[] {
  if (line.length > MOST_LINE || !(line.includes('SendMessage') || line.includes('"msg_id"'))) return [];
  try {
    const record: unknown = JSON.parse(line.toString('utf8'));
    return isObject(record) ? [record] : [];
  } catch {
    return [];
  }
}

function callsIn(record: Json): [string, { to: string; message: string }][] {
  return contentOf(record).flatMap((block): [string, { to: string; message: string }][] => {
    const { type, id, name, input } = block;
    if (type !== 'tool_use' || name !== 'SendMessage' || typeof id !== 'string' || !isObject(input))
      return [];
    const { to, message } = input;
    return typeof to === 'string' && typeof message === 'string' ? [[id, { to, message }]] : [];
  });
}

function answeredCall(record: Json): string | undefined {
  const [block, ...more] = contentOf(record);
  const id = block?.['type'] === 'tool_result' && more.length === 0 ? block['tool_use_id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** The mail as it lay in the inbox. */
function mailOf(record: Json, call: { to: string; message: string }, sender: string): MailEntry | undefined {
  const { toolUseResult: result, timestamp } = record;
  if (!isObject(result) || result['success'] !== true || typeof result['msg_id'] !== 'string')
    return undefined;
  const routing = isObject(result['routing']) ? result['routing'] : {};
  const { sender: reported, target, summary } = routing;
  if (typeof timestamp !== 'string' || Number.isNaN(Date.parse(timestamp))) return undefined;
  if (reported !== sender || target !== `@${call.to}` || call.to === '' || sameInbox(call.to, sender))
    return undefined;
  const entry: MailEntry = {
    from: sender,
    text: call.message,
    timestamp,
    read: true,
    ...(typeof summary === 'string' ? { summary } : {}),
    msg_id: result['msg_id'],
  };
  return idOf(entry) === result['msg_id'] ? entry : undefined;
}

function contentOf(record: Json): Json[] {
  const { message } = record;
  const content = isObject(message) ? message['content'] : undefined;
  return Array.isArray(content) ? content.filter(isObject) : [];
}

function isObject(value: unknown): value is Json {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
