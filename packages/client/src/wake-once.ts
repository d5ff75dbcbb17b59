import { fieldsOf } from '@parley/protocol';
import type { CommandHandler } from './command-handler.ts';

/** How many wakes are remembered. */
const KEPT = 200;

/** Takes each wake once: one that comes again, since the hub stopped before it heard the answer, is answered as before. */
export function wakeOnce(take: CommandHandler): CommandHandler {
  const takenById = new Map<string, Promise<unknown>>();

  function begin(id: string, parameters: Record<string, unknown>, source: Parameters<CommandHandler>[1]) {
    const taking = Promise.resolve().then(() => take(parameters, source));
    takenById.set(id, taking);
    const [oldest] = takenById.keys();
    if (takenById.size > KEPT && oldest !== undefined) takenById.delete(oldest);
    const forget = (): void => void takenById.delete(id);
    // What was not taken may be tried again.
    taking.then((answer) => (isRefused(answer) ? forget() : undefined), forget);
    return taking;
  }

  return async (parameters, source) => {
    const { trigger_id: id } = parameters;
    if (typeof id !== 'string') return take(parameters, source);
    const known = takenById.get(id);
    await known?.catch(() => {});
    return takenById.get(id) ?? begin(id, parameters, source);
  };
}

function isRefused(answer: unknown): boolean {
  return fieldsOf(answer)['delivered'] === false;
}
