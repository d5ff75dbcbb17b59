import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

import { hideSecrets, logJson, errorText } from '@parley/protocol';

import { RPC, RpcError } from '../errors.ts';
import type { Log } from '../logger.ts';
import { type AuditRecord, auditSummary } from './audit-record.ts';

/** A line before it is written. */
export type Note = Omit<AuditRecord, 'ts' | 'correlation_id' | 'team'> & { correlation_id?: string };

/** The record of what was done under which identity; several proxies of a team append to one file. */
export interface Audit {
  /** Writes one line before the deed it tells of; throws when it cannot, so that nothing is done unlogged. */
  note(record: Note): string;
  /** Writes what is done already, or does nothing; a failure is only logged. */
  noteEnd(record: Note): void;
  close(): void;
}

const NEWLINE = 0x0a;
const LOOKS = 5;

/** Opens `<sessions>/<team>/audit.jsonl` at the first line. */
export function openAudit(path: string, team: string, log: Log, now: () => Date): Audit {
  let file: number | undefined;
  /** Where our last line ended, if nobody wrote meanwhile. */
  let end = 0;

  const write = (record: Note): string => {
    const correlation_id = record.correlation_id ?? randomUUID();
    const { summary, ...facts } = record;
    const line = logJson({
      ts: now().toISOString(),
      ...facts,
      correlation_id,
      team,
      ...(summary === undefined ? {} : { summary: auditSummary(hideSecrets(summary)) }),
    });
    file ??= open(path);
    const { size } = fstatSync(file);
    // A line that a full disk has cut short must not swallow the next one.
    const text = Buffer.from(`${size !== end && isTorn(file) ? '\n' : ''}${line}\n`);
    const written = writeSync(file, text);
    if (written !== text.length) throw new Error('the disk is full');
    end = size + written;
    return correlation_id;
  };

  return {
    note(record) {
      try {
        return write(record);
      } catch (error) {
        log('error', 'the audit log could not be written', { path, error: String(error) });
        throw new RpcError(
          RPC.internal,
          `Nothing was done, as the audit log could not be written: ${errorText(error)}`,
          { error_source: 'proxy', error_name: 'AUDIT_FAILED' },
        );
      }
    },
    noteEnd(record) {
      try {
        write(record);
      } catch (error) {
        log('error', 'the audit log could not be written', { path, error: String(error) });
      }
    },
    close() {
      if (file === undefined) return;
      fsyncSync(file);
      closeSync(file);
      file = undefined;
    },
  };
}

function open(path: string): number {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  return openSync(path, O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR, 0o600);
}

/** A line without its end that stays so: one that another proxy is writing at this moment gets it in no time. */
function isTorn(file: number): boolean {
  for (let look = 0; look < LOOKS; look++) {
    if (!endsInMidLine(file)) return false;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
  }
  return true;
}

function endsInMidLine(file: number): boolean {
  const { size } = fstatSync(file);
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  readSync(file, last, 0, 1, size - 1);
  return last[0] !== NEWLINE;
}
