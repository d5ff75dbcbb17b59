import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

import { RPC, RpcError } from '../errors.ts';
import type { Log } from '../logger.ts';
import { redact } from '../redact.ts';

/** One thing that was done in somebody's name. */
interface AuditEntry {
  tool: string;
  identity: string;
  agent_id: string | null;
  /** The beginning of what was said; secrets are taken out. */
  text: string;
  recipient?: string;
}

/** The record of a team's calls, which all its proxies share. */
export interface Audit {
  /** Throws when it cannot be written: what is not on record is not done. */
  record(entry: AuditEntry): void;
  close(): void;
}

const SUMMARY_CHARS = 200;

/** Appends whole lines; the system puts those of several processes one after the other. */
export function openAudit(path: string, log: Log, now: () => Date): Audit {
  let file: number | undefined;
  let isTorn = false;

  const close = (): void => {
    if (file !== undefined) closeSync(file);
    file = undefined;
  };
  const append = (line: string): void => {
    if (file === undefined) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      file = openSync(path, 'a', 0o600);
    }
    // What a full disk cut off stays a line of its own.
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${line}\n`);
    const written = writeSync(file, bytes);
    isTorn = written < bytes.length;
    if (isTorn) throw new Error('only a part of the line could be written');
  };
  return {
    record({ text, ...entry }) {
      const summary = redact(text.slice(0, 10 * SUMMARY_CHARS)).slice(0, SUMMARY_CHARS);
      try {
        append(JSON.stringify({ timestamp: now().toISOString(), ...entry, summary }));
      } catch (error) {
        close();
        log('error', 'the audit log could not be written', { path, error: String(error) });
        throw new RpcError(RPC.internal, 'The call was not made, since it could not be put on record', {
          error_source: 'proxy',
          error_name: 'AUDIT_FAILED',
        });
      }
    },
    close,
  };
}
