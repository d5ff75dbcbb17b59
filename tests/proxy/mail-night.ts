import type { MessagesRequest, MessagesStep, ResponsesRequest, ResponsesStep } from '@parley/runtimes';

import { lastPrompt } from '../runtimes/scripted-agent.ts';

/** A line of the audit log, as far as it is looked at. */
export interface Audited {
  event: string;
  identity: string | null;
  source?: string;
  tool?: string;
  to?: string;
  status?: string;
  correlation_id: string;
  message_ids?: string[];
}

const MARK = /night-[a-z]+\d*-\d+/g;

/** The marks of all mails that a model has seen. */
export function marksIn(requests: readonly { body: object }[]): Set<string> {
  return new Set(requests.flatMap(({ body }) => JSON.stringify(body).match(MARK) ?? []));
}

/** A model that takes mail in and goes on; two sessions answer each mail of the other. */
export function createNightModel([ping, pong]: readonly string[]) {
  return (request: ResponsesRequest): ResponsesStep[] => {
    const { input } = request.body;
    if (input.at(-1)?.type.endsWith('_call_output') === true) return [{ text: 'sent' }];
    const own = /identity: [\\"]+(\w+)/.exec(JSON.stringify(input))?.[1] ?? '';
    const prompt = lastPrompt(request);
    const isBall = prompt.includes('unread message') && (own === ping || own === pong);
    if (!isBall && !prompt.startsWith('begin')) return [{ text: 'noted' }];
    const mail = { to: own === ping ? pong : ping, message: `your turn, ${input.length}` };
    return [{ call: 'atm_send', namespace: 'mcp__atm', arguments: mail, id: `call_${input.length}` }];
  };
}

/** A lead of Claude Code that, once told to, writes to the members in turn, ten mails at a time. */
export function mailingLead(count: number, members: readonly string[]) {
  const open = new Set(Array.from({ length: count }, (_, n) => n));
  const sent = new Set<number>();
  let tries = 0;
  const script = ({ body }: MessagesRequest): MessagesStep[] => {
    const said = JSON.stringify(body.messages);
    for (const { content } of body.messages)
      if (typeof content !== 'string')
        for (const { tool_use_id = '', content: result } of content) {
          const n = Number(/^toolu_night_(\d+)_/.exec(tool_use_id)?.[1] ?? Number.NaN);
          if (open.has(n) && /\\?"success\\?":true/.test(JSON.stringify(result))) {
            open.delete(n);
            sent.add(n);
          }
        }
    if (!said.includes('MAIL-NOW')) return [{ text: 'ok' }];
    if (open.size === 0) return [{ text: 'all sent' }];
    return [...open].slice(0, 10).map((n) => ({
      use: 'SendMessage',
      input: { to: members[n % members.length], summary: 'a task', message: `night-lead-${n}` },
      // A mail to a session that is just not there is refused, and tried again as another call.
      id: `toolu_night_${n}_${tries++}`,
    }));
  };
  return { count, open, sent, script };
}

/** The most turns that mail has started in one of these sessions between two turns of the client in any of them. */
export function turnsSinceRearmed(audit: readonly Audited[], sessions: readonly string[]): number {
  const turns = new Map<string, number>();
  let most = 0;
  for (const { event, source, identity } of audit) {
    if (event !== 'turn' || identity === null || !sessions.includes(identity)) continue;
    if (source === 'client') turns.clear();
    else if (source === 'mail') turns.set(identity, (turns.get(identity) ?? 0) + 1);
    most = Math.max(most, ...turns.values());
  }
  return most;
}
