import { SCAN_BYTES } from './scan-bytes.ts';

/** Compares one vector with many, 16 numbers at a time; scores are whole numbers. */
export interface Scanner {
  memory: Memory;
  /** Compares what stands at 0 with `count` vectors from `at` on, each `stride` bytes long, and writes to `out`. */
  scan(at: number, count: number, stride: number, out: number): void;
}

interface Memory {
  readonly buffer: ArrayBuffer;
  /** In pages of 64 kB. */
  grow(pages: number): number;
}

/** The part that is used; its types come with those of browsers only. */
interface Runtime {
  Memory: new (size: { initial: number }) => Memory;
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: Record<string, unknown> };
}

/** A scanner with memory of its own. */
export function createScanner(): Scanner {
  // The types of Node leave WebAssembly out.
  const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Runtime }).WebAssembly;
  const memory = new Memory({ initial: 1 });
  const { exports } = new Instance(new Module(Buffer.from(SCAN_BYTES, 'base64')), { m: { memory } });
  // scan.wat exports it.
  return { memory, scan: exports['scan'] as Scanner['scan'] };
}
