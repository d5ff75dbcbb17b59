import { ParleyError } from '@parley/protocol';

import { newDocument } from './documents.ts';
import type { Hands } from './hands.ts';
import { WORKSPACES } from './script.ts';

/** More than one caller may say at once. */
const FLOOD = 90;
const RUSH = 40;
const MINUTE_MS = 60_000;
const [OPERATOR, STEERER, WIM, WES] = [0, 1, 2, 3] as const;

/**
 * What only a hub that runs well can be held to, once all mishaps are over: mutes end when they should, one
 * workspace's flood is not another's, and a long line of one holds nobody else up.
 */
export async function playClosing(hands: Hands): Promise<void> {
  const { history, callerOf, knownIn, attempt, insist, wait, way, time } = hands;

  async function post(workspace: number, who: number, thread_id: string): Promise<ParleyError | undefined> {
    try {
      await attempt(callerOf(workspace, who), 'post_message', { thread_id, schema_version: 1, body: 'well' });
      return undefined;
    } catch (error) {
      if (error instanceof ParleyError) return error;
      throw error;
    }
  }

  async function threadIn(workspace: number): Promise<string> {
    const input = { title: 'at the end', participants: ['ann', 'olga', 'wim', 'wes'] };
    const made = await insist(() => attempt(callerOf(workspace, STEERER), 'create_thread', input));
    if ('refusal' in made) throw made.refusal;
    knownIn(workspace).threads.push(made.answer.thread_id);
    return made.answer.thread_id;
  }

  /** The shorter of two mutes ends first, whichever was given first. */
  async function mutes(workspace: number, thread_id: string): Promise<void> {
    const long = { mute: { targets: ['wim'], for_seconds: 1_200 } };
    const short = { mute: { targets: ['wes'], for_seconds: 120 } };
    for (const control of workspace === 0 ? [long, short] : [short, long])
      await insist(() => attempt(callerOf(workspace, OPERATOR), 'control_thread', { thread_id, control }));
    const may = async (who: number): Promise<boolean> =>
      (await post(workspace, who, thread_id)) === undefined;
    await wait(MINUTE_MS);
    if ((await may(WIM)) || (await may(WES))) history.isBroken('who is muted is silent', thread_id);
    await wait(3 * MINUTE_MS);
    if (!(await may(WES)) || (await may(WIM)))
      history.isBroken('a mute ends when its time is up', `wes in ${thread_id}, which wim does not share`);
    await wait(18 * MINUTE_MS);
    if (!(await may(WIM))) history.isBroken('a mute ends when its time is up', `wim in ${thread_id}`);
  }

  /** One who says too much is told so; its namesake elsewhere is not. */
  async function flood(threads: readonly string[]): Promise<void> {
    const [noisy = '', other = ''] = threads;
    const said = Array.from({ length: FLOOD }, () => post(0, STEERER, noisy));
    const namesake = await post(1, STEERER, other);
    const refused = (await Promise.all(said)).filter((one) => one?.code === 'RATE_LIMITED').length;
    if (refused === 0) history.isBroken('a quota holds', `${FLOOD} messages at once were all taken`);
    if (namesake !== undefined)
      history.isBroken('namesakes share nothing', `olga of ${WORKSPACES[1]}: ${namesake.message}`);
  }

  /** Of two workspaces that share all places, the one with a short line does not wait for the long one. */
  async function rush(): Promise<void> {
    const expiresAt = time.now() + 30 * MINUTE_MS;
    const node = await way.up();
    const send = async (workspace: number, i: number): Promise<string> => {
      const n = 2e6 + workspace * RUSH + i;
      const name = { context_id: `rush-${n}`, seq: 1 };
      const { workspace_id, ...caller } = callerOf(workspace, STEERER);
      const found = await way.answer(
        node,
        node.deliveryQueue.accept({
          caller: { ...caller, workspace_id },
          action: 'knowledge.create_document',
          args: newDocument(n, 'in a rush'),
          order: name,
          expiresAt,
          idempotency_key: `rush-${n}`,
        }),
      );
      return 'delivery_id' in found ? found.delivery_id : '';
    };
    const sent = [
      ...Array.from({ length: RUSH }, (_, i) => send(0, i)),
      ...Array.from({ length: 2 }, (_, i) => send(1, i)),
    ];
    const ids = await Promise.all(sent);
    await wait(10 * MINUTE_MS);
    const ends = await Promise.all(
      ids.map(async (delivery_id, i) => {
        const who = callerOf(i < RUSH ? 0 : 1, STEERER);
        const found = await insist(() => attempt(who, 'get_delivery', { delivery_id }));
        return 'answer' in found ? (found.answer.delivery.finished_at ?? 'never') : 'never';
      }),
    );
    const many = ends.slice(0, RUSH).toSorted();
    const half = many[RUSH / 2] ?? '';
    for (const end of ends.slice(RUSH))
      if (end > half)
        history.isBroken(
          'a long line holds nobody else up',
          `two of one ended at ${end}, half of 40 at ${half}`,
        );
  }

  await wait(10 * MINUTE_MS);
  const threads = await Promise.all(WORKSPACES.map((_name, workspace) => threadIn(workspace)));
  await flood(threads);
  await wait(MINUTE_MS);
  await rush();
  await Promise.all(threads.map((thread_id, workspace) => mutes(workspace, thread_id)));
}
