import { askOf, type Entry, evolveAsk } from '@parley/core';
import { type Ask, canonicalJson } from '@parley/protocol';

import type { DatabaseSync } from './sqlite.ts';

/** Folds the asks of the log anew and holds them against the live ones. */
export interface AskCheck {
  /** Takes each entry of a thread in turn. */
  see(workspaceId: string, entry: Entry): void;
  /** Compares what the thread's entries told; called where it ends. */
  endOfThread(): string[];
  /** The live asks of which no thread has told. */
  unheard(): string[];
}

/** A check over one connection. */
export function createAskCheck(db: DatabaseSync): AskCheck {
  const live = db.prepare("SELECT json FROM records WHERE kind = 'ask' AND workspace_id = ? AND key = ?");
  const all = db.prepare(
    "SELECT workspace_id, key FROM records WHERE kind = 'ask' ORDER BY workspace_id, key",
  );
  const heard = new Set<string>();
  let folded = new Map<string, Ask>();
  return {
    see(workspaceId, entry) {
      const id = askOf(entry);
      if (id !== undefined) folded.set(id, evolveAsk(workspaceId, folded.get(id), entry));
    },
    endOfThread() {
      const asks = [...folded.values()];
      folded = new Map();
      return asks.flatMap((ask) => {
        heard.add(nameOf(ask.workspace_id, ask.ask_id));
        const row = live.get(ask.workspace_id, ask.ask_id) as { json: string } | undefined;
        if (row === undefined) return [`${ask.ask_id}: the log tells of it, but it is not there`];
        if (canonicalText(row.json) === canonicalJson(ask)) return [];
        return [`${ask.ask_id}: the ask folded from the log differs from the live one`];
      });
    },
    unheard: () =>
      (all.all() as { workspace_id: string; key: string }[])
        .filter(({ workspace_id, key }) => !heard.has(nameOf(workspace_id, key)))
        .map(({ key }) => `${key}: the ask is there, but the log does not tell of it`),
  };
}

function nameOf(workspaceId: string, askId: string): string {
  return `${workspaceId} ${askId}`;
}

function canonicalText(json: string): string | undefined {
  try {
    return canonicalJson(JSON.parse(json));
  } catch {
    return undefined;
  }
}
