import { open } from 'node:fs/promises';

import type { AuditRecord } from './audit-record.ts';

const CHUNK = 65_536;

/** Reads an audit log in steps: each call yields what has come since the last one. */
export function createAuditReader(path: string): () => AsyncGenerator<AuditRecord> {
  let at = 0;
  let rest = Buffer.alloc(0);

  return async function* readOn() {
    const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined;
      throw error;
    });
    if (file === undefined) return;
    try {
      for (;;) {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(CHUNK), 0, CHUNK, at);
        if (bytesRead === 0) return;
        at += bytesRead;
        const text = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = text.lastIndexOf(0x0a) + 1;
        rest = text.subarray(end);
        for (const line of text.subarray(0, end).toString().split('\n')) {
          const record = parse(line);
          if (record !== undefined) yield record;
        }
      }
    } finally {
      await file.close();
    }
  };
}

/** A line that was cut short by a full disk is no record. */
function parse(line: string): AuditRecord | undefined {
  if (line === '') return undefined;
  try {
    // The proxy itself wrote it; what is shown of it is text.
    return JSON.parse(line) as AuditRecord;
  } catch {
    return undefined;
  }
}
