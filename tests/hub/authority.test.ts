import { randomUUID } from 'node:crypto';

import type { OperationName } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { everyCall } from '../harness/every-call.ts';
import { runJson } from '../harness/run-cli.ts';
import { registerByCommand } from '../harness/tokens.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';

const scene = useHub({ settings: WITHOUT_MODEL });

const participant = (agent: string, role: string): Participant => scene.as(agent, { role });

/** Each role, all but the stranger in the thread; a person whose device may only look; a worker from elsewhere. */
const callers = (): Record<string, Participant> => ({
  operator: participant('ann', 'operator'),
  orchestrator: participant('olga', 'orchestrator'),
  worker: participant('wim', 'worker'),
  observer: participant('eve', 'observer'),
  looking: scene.with('ann', scene.signer.token({ agent: 'ann', role: 'operator' }, { read_only: true })),
  stranger: participant('sam', 'worker'),
});

/** Things that are there, and of others: what may be done with them depends on who asks. */
async function inputs(): Promise<Record<OperationName, Record<string, unknown>>> {
  const [ann, asker] = [participant('ann', 'operator'), participant('asker', 'worker')];
  const thread_id = await ann.thread('wim', 'eve', 'bob', 'asker');
  const { message_id } = await asker.say(thread_id, 'hello');
  const { ask } = await asker.ok('raise_ask', { prompt: 'may I?' });
  const document_id = randomUUID();
  const page = { content: { mime_type: 'text/markdown' as const, body: '#' }, metadata: { title: 't' } };
  await ann.ok('create_document', { document_id, parent_id: 'root', ...page });
  const artifact = { name: 'a.txt', mime_type: 'text/plain', content: 'a' };
  const { artifact_id } = (await ann.ok('put_artifact', artifact)).artifact;
  const every = everyCall(thread_id, message_id);
  const named = { ask_id: ask.ask_id, document_id, artifact_id };
  for (const [name, input] of Object.entries(every))
    for (const [field, value] of Object.entries(named))
      if (field in input && name !== 'create_document') input[field] = value;
  // Under another document: at the top workers may not.
  every.create_document['parent_id'] = document_id;
  every.get_agent = { of_agent: 'asker' };
  return every;
}

/** + done, or refused for another cause than who asks; - refused for who asks; 0 there is nothing for this caller. */
function mark({ error }: Awaited<ReturnType<Participant['call']>>): string {
  if (error?.code === 'FORBIDDEN' || error?.code === 'INSUFFICIENT_AUTHORITY') return '-';
  return error?.code === 'NOT_FOUND' ? '0' : '+';
}

/** In the order of the callers above. */
const MAY: Record<OperationName, string> = {
  ack_read: '++++--',
  add_channel: '+-----',
  add_approval_rule: '+-----',
  add_passkey: '+-----',
  answer_ask: '+-0--0',
  ask_human: '+++--+',
  assign_task: '+++---',
  begin_passkey: '+-----',
  challenge_ask: '+-----',
  check_reach: '00--0-',
  close_side_channel: '+++---',
  command_agent: '++----',
  control_thread: '+++---',
  create_document: '+++--+',
  create_thread: '+++--+',
  delete_document: '++----',
  describe_hub: '+---+-',
  export_documents: '++++++',
  import_documents: '+++--+',
  forget_agent: '0-----',
  dismiss_error: '0-----',
  get_agent: '++++++',
  get_artifact: '++++++',
  get_ask: '++0++0',
  get_delivery: '000000',
  get_document: '++++++',
  get_document_history: '++++++',
  get_document_links: '++++++',
  get_message: '+++++-',
  get_message_evidence: '+++++-',
  get_slo: '++++++',
  get_thread: '+++++-',
  heartbeat_session: '++++-+',
  list_agents: '++++++',
  list_agent_states: '++++++',
  get_usage: '++++++',
  report_usage: '++++-+',
  list_artifacts: '++++++',
  list_asks: '++++++',
  list_channels: '+---+-',
  list_deliveries: '++++++',
  list_devices: '+---+-',
  list_documents: '++++++',
  list_approval_rules: '+---+-',
  list_passkeys: '+---+-',
  list_presence: '+++++-',
  list_quiet: '++++++',
  list_services: '++++++',
  list_sessions: '++++++',
  list_threads: '++++++',
  move_document: '++----',
  open_side_channel: '+++---',
  pair_device: '+-----',
  post_message: '+++---',
  preview_threads: '++++++',
  promote_thread: '+++---',
  put_artifact: '+++--+',
  query_knowledge: '++++++',
  raise_ask: '+++--+',
  read_log: '++++++',
  read_messages: '+++++-',
  redrive_deliveries: '000--0',
  register_agent: '++++-+',
  remove_channel: '0-----',
  remove_passkey: '0-----',
  rename_thread: '++----',
  report_event: '+++--+',
  report_health: '++++-+',
  report_result: '000---',
  restore_document: '++----',
  revert_document: '++----',
  revoke_device: '0-----',
  revoke_approval_rule: '0-----',
  search_messages: '++++++',
  set_presence: '++++--',
  set_quiet: '++----',
  should_respond: '+++++-',
  sign_artifact_url: '++++++',
  summarize_thread: '+++++-',
  test_channel: '0-----',
  trigger_participant: '+++---',
  update_agent_status: '++++-+',
  update_channel: '0-----',
  update_document: '++----',
  update_thread_status: '+++---',
  wait_for_ask: '++0+-0',
  wait_for_messages: '+++++-',
  wait_for_wake: '+++--+',
  withdraw_ask: '--0--0',
  whoami: '++++++',
};

test('who may do what, over the whole table of operations', async () => {
  const found: Record<string, string> = {};
  for (const caller of Object.values(callers()))
    for (const [name, input] of Object.entries(await inputs())) {
      const answer = await caller.call(name as OperationName, input);
      found[name] = (found[name] ?? '') + mark(answer);
    }
  expect(found).toEqual(MAY);
});

test('no operation tells anyone what was said where he is not', async () => {
  const secret = (name: string): string => `canary-${name}`;
  const ann = participant('ann', 'operator');
  const asker = scene.as('asker', { role: 'worker', session: 'asker-9' });
  const thread_id = await ann.thread('asker', 'bob', 'cid');
  await asker.say(thread_id, secret('message'));
  await asker.ok('open_side_channel', { thread_id, title: secret('side'), purpose: 'detail' });
  const event = { event_type: 'task_failed' as const, data: { message: secret('event') } };
  await participant('cid', 'worker').ok('report_event', { thread_id, ...event });
  await asker.ok('set_presence', { thread_id, state: 'thinking' });
  await asker.ok('raise_ask', { prompt: secret('prompt'), command: `rm ${secret('command')}` });
  await participant('bob', 'worker').ok('raise_ask', { prompt: secret('prompt'), thread_id });
  const every = await inputs();
  every.get_agent = { of_agent: 'asker' };
  const heardBy = async (caller: Participant): Promise<string[]> => {
    const answers = [];
    for (const [name, input] of Object.entries(every))
      answers.push(await caller.call(name as OperationName, input));
    answers.push(await caller.call('search_messages', { query: 'canary', mode: 'hybrid' }));
    answers.push(await caller.call('preview_threads', { thread_ids: [thread_id] }));
    const text = JSON.stringify(answers.map(({ result, error }) => [result, error]));
    expect(text).toContain('"state":"needs_you"');
    return [...new Set(text.match(/canary-\w+/g))].toSorted();
  };
  expect(await heardBy(participant('sam', 'worker'))).toEqual([]);
  // Observers watch all asks, and no thread that they are not in.
  expect(await heardBy(participant('eve', 'observer'))).toEqual([secret('command'), secret('prompt')]);
  expect((await heardBy(ann)).length).toBeGreaterThan(3);
  for (const caller of [participant('sam', 'worker'), participant('eve', 'observer')])
    expect(await caller.ok('get_agent', { of_agent: 'asker' })).toMatchObject({ presence: [] });
});

describe.each(faces)('over $name', (face) => {
  test('that an agent asks is seen by all, what it asks by those who may see the ask', async () => {
    const workspace = `asks-${faces.indexOf(face)}`;
    const as = (agent: string, role: string): Participant => scene.as(agent, { role, workspace, face });
    await as('asker', 'worker').ok('raise_ask', { prompt: 'deletes it', command: 'rm -r secret-folder' });
    const reasonFor = async (caller: Participant): Promise<string[]> => {
      const { agents } = await caller.ok('list_agents', { state: 'needs_you' });
      const one = await caller.ok('get_agent', { of_agent: 'asker' });
      expect([one.state, one.open_asks, agents.length]).toEqual(['needs_you', 1, 1]);
      return [one.reason, agents[0]?.reason ?? ''];
    };
    const reported = 'asks to run: rm -r secret-folder';
    for (const [agent, role] of [
      ['ann', 'operator'],
      ['olga', 'orchestrator'],
      ['eve', 'observer'],
      ['asker', 'worker'],
    ] as const)
      expect(await reasonFor(as(agent, role))).toEqual([reported, reported]);
    const hidden = 'waits for a person';
    expect(await reasonFor(as('sam', 'worker'))).toEqual([hidden, hidden]);
  });

  test('an observer reports no events, neither to a thread nor of itself', async () => {
    const eve = scene.as('eve', { role: 'observer', face });
    const ann = participant('ann', 'operator');
    const thread_id = await ann.thread('eve');
    // Channels that calls above have left would write in their own time that nobody took their notices.
    for (const { channel_id } of (await ann.ok('list_channels', {})).channels)
      await ann.ok('remove_channel', { channel_id });
    await scene.unchanged(async () => {
      for (const more of [{}, { thread_id }])
        await eve.refused(
          'report_event',
          { event_type: 'info', data: { message: 'x' }, ...more },
          'FORBIDDEN',
        );
    });
  });
});

test('an operator hears of the keys of the whole hub and of his workspace, not of others', async () => {
  const { data } = scene.hub;
  await registerByCommand('everywhere', { data });
  await registerByCommand('of-w1', { data, workspace: 'w1' });
  await registerByCommand('of-w2', { data, workspace: 'w2' });
  await runJson(['key', 'retire', 'of-w2'], { data });
  await registerByCommand('of-w2-again', { data, workspace: 'w2' });
  const seenBy = async (workspace: string): Promise<string[]> => {
    const { keys } = await scene.as('ann', { role: 'operator', workspace }).ok('describe_hub', {});
    return keys.filter(({ own }) => !own).map(({ kid }) => kid);
  };
  expect(await seenBy('w1')).toEqual(['test-key', 'everywhere', 'of-w1']);
  expect(await seenBy('w2')).toEqual(['test-key', 'everywhere', 'of-w2', 'of-w2-again']);
  expect(await seenBy('w3')).toEqual(['test-key', 'everywhere']);
});
