import { randomBytes } from 'node:crypto';

/** Cuts what is too long for one message, and joins what others have cut. */
export interface Pieces {
  cut(whole: Buffer, most: number): Buffer[];
  /** The whole, with its last piece. */
  join(piece: Buffer): Buffer | undefined;
}

const ID = 8;
const HEAD = ID + 8;
/** So many wholes may be in the making, and so many bytes of them; of more the oldest is given up. */
const MOST = 256;
const MOST_BYTES = 256 * 1024 * 1024;

interface Making {
  pieces: (Buffer | undefined)[];
  missing: number;
  bytes: number;
}

/** Each piece says of which whole it is, which one, and of how many. */
export function createPieces(): Pieces {
  const making = new Map<string, Making>();
  let bytes = 0;

  function drop(id: string, one: Making): void {
    making.delete(id);
    bytes -= one.bytes;
  }

  return {
    cut(whole, most) {
      const size = most - HEAD;
      const count = Math.max(1, Math.ceil(whole.length / size));
      const id = randomBytes(ID);
      return Array.from({ length: count }, (_, i) => {
        const head = Buffer.alloc(8);
        head.writeUInt32BE(i, 0);
        head.writeUInt32BE(count, 4);
        return Buffer.concat([id, head, whole.subarray(i * size, (i + 1) * size)]);
      });
    },
    join(piece) {
      const id = piece.subarray(0, ID).toString('hex');
      const [index, count] = [piece.readUInt32BE(ID), piece.readUInt32BE(ID + 4)];
      const body = piece.subarray(HEAD);
      if (count === 1) return body;
      const one = making.get(id) ?? { pieces: [], missing: count, bytes: 0 };
      making.set(id, one);
      if (one.pieces[index] !== undefined) return undefined;
      one.pieces[index] = body;
      one.missing--;
      one.bytes += body.length;
      bytes += body.length;
      if (one.missing > 0) {
        for (const [old, held] of making)
          if (old !== id && (making.size > MOST || bytes > MOST_BYTES)) drop(old, held);
        return undefined;
      }
      drop(id, one);
      return Buffer.concat(one.pieces.filter((part) => part !== undefined));
    },
  };
}
