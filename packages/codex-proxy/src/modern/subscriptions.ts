import { fieldsOf } from '@parley/protocol';
import { invalidParams } from '../errors.ts';
import type { Params, RpcId } from '../wire/message.ts';
import { SUBSCRIPTION_ID } from './revision.ts';

/** The streams on which a client without sessions hears that the list of tools has changed. */
export interface Subscriptions {
  /** Settles when the client takes the request back, or at the end of all. */
  listen(id: RpcId, params: Params, signal: AbortSignal): Promise<Params>;
  toolsChanged(): void;
  close(): void;
}

const MOST_OPEN = 64;

/** Each notification carries the id of the request that wants it. */
export function createSubscriptions(notify: (method: string, params: Params) => boolean): Subscriptions {
  const endById = new Map<RpcId, () => void>();
  return {
    async listen(id, { notifications: wanted }, signal) {
      if (wanted === null || typeof wanted !== 'object') throw invalidParams('notifications is missing');
      if (endById.size >= MOST_OPEN) throw invalidParams(`there are ${MOST_OPEN} subscriptions already`);
      const { toolsListChanged } = fieldsOf(wanted);
      const honoured = toolsListChanged === true ? { toolsListChanged } : {};
      const stamp = { _meta: { [SUBSCRIPTION_ID]: id } };
      notify('notifications/subscriptions/acknowledged', { notifications: honoured, ...stamp });
      if (toolsListChanged === true && !signal.aborted)
        await new Promise<void>((resolve) => {
          endById.set(id, resolve);
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
      endById.delete(id);
      return stamp;
    },
    toolsChanged() {
      for (const id of endById.keys())
        notify('notifications/tools/list_changed', { _meta: { [SUBSCRIPTION_ID]: id } });
    },
    close() {
      for (const end of endById.values()) end();
    },
  };
}
