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

const [AT, COUNT, STRIDE, OUT, STEP, SUM, A, B] = [0, 1, 2, 3, 4, 5, 6, 7];
const get = (local = 0): number[] => [0x20, local];
const set = (local = 0): number[] => [0x21, local];
const tee = (local = 0): number[] => [0x22, local];
const number = (value: number): number[] => [0x41, value];
const LOAD_16 = [0xfd, 0x00, 0x00, 0x00];
const STORE = [0x36, 0x02, 0x00];
const ADD = [0x6a];
const SUBTRACT = [0x6b];
const IS_LESS = [0x49];
const LOOP = [0x03, 0x40];
const AGAIN_IF = [0x0d, 0x00];
const END = [0x0b];
const NO_SUM = [0xfd, 0x0c, ...Array<number>(16).fill(0)];
const lane = (n: number): number[] => [...get(SUM), 0xfd, 0x1b, n];
/** Eight products of two bytes each, added up in pairs to four sums. */
const addProducts = (half: number): number[] =>
  [get(A), get(B), [0xfd, half, 0x01], [0xfd, 0x7e], [0xfd, 0xae, 0x01]].flat();
const LINES: number[][][] = [
  [LOOP],
  [NO_SUM, set(SUM), number(0), set(STEP)],
  [LOOP],
  [get(STEP), LOAD_16, set(A)],
  [get(AT), get(STEP), ADD, LOAD_16, set(B)],
  [get(SUM), addProducts(0x9c), addProducts(0x9d), set(SUM)],
  [get(STEP), number(16), ADD, tee(STEP), get(STRIDE), IS_LESS, AGAIN_IF],
  [END],
  [get(OUT), lane(0), lane(1), ADD, lane(2), ADD, lane(3), ADD, STORE],
  [get(OUT), number(4), ADD, set(OUT)],
  [get(AT), get(STRIDE), ADD, set(AT)],
  [get(COUNT), number(1), SUBTRACT, tee(COUNT), AGAIN_IF],
  [END, END],
];

const sized = (bytes: number[]): number[] => [...leb(bytes.length), ...bytes];
const section = (id: number, ...bytes: number[]): number[] => [id, ...sized(bytes)];
const named = (text: string): number[] => sized([...Buffer.from(text)]);
const [I32, V128] = [0x7f, 0x7b];

/** A length as the format writes it: seven bits a byte. */
function leb(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >> 7)];
}

const LOCALS = [2, 1, I32, 3, V128];
const MODULE = Uint8Array.from(
  [
    [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    section(1, 1, 0x60, 4, I32, I32, I32, I32, 0),
    section(2, 1, ...named('m'), ...named('memory'), 0x02, 0x00, 1),
    section(3, 1, 0),
    section(7, 1, ...named('scan'), 0x00, 0),
    section(10, 1, ...sized([...LOCALS, ...LINES.flat(2)])),
  ].flat(),
);

/** A scanner with memory of its own. */
export function createScanner(): Scanner {
  const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Runtime }).WebAssembly;
  const memory = new Memory({ initial: 1 });
  const { exports } = new Instance(new Module(MODULE), { m: { memory } });
  return { memory, scan: exports['scan'] as Scanner['scan'] };
}
