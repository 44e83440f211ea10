/** Ways to damage a file. */
import type { Random } from "./random.ts";

type Mutation = (random: Random, bytes: Buffer, other: Buffer) => Buffer;

/** Half of the places lie in the first or last kilobytes, where headers and indexes are. */
function place(random: Random, length: number): number {
  const near = Math.min(length, 2048);
  const where = random.below(4);
  if (where === 0) return random.below(near);
  if (where === 1) return length - 1 - random.below(near);
  return random.below(length);
}

function block(random: Random, length: number): { at: number; end: number } {
  const at = place(random, length);
  return { at, end: Math.min(length, at + 1 + random.below(2 ** random.below(17))) };
}

const extremes = [
  0n,
  1n,
  0x7fn,
  0xffn,
  0x7fffn,
  0xffffn,
  0x7fff_ffffn,
  0x8000_0000n,
  0xffff_ffffn,
  2n ** 63n - 1n,
  2n ** 64n - 1n,
];

const flipBits: Mutation = (random, bytes) => {
  for (let count = 1 + random.below(2 ** random.below(9)); count > 0; count--)
    bytes[place(random, bytes.length)]! ^= 1 << random.below(8);
  return bytes;
};

const changeBytes: Mutation = (random, bytes) => {
  for (let count = 1 + random.below(2 ** random.below(7)); count > 0; count--)
    bytes[place(random, bytes.length)] = random.below(256);
  return bytes;
};

const setExtremes: Mutation = (random, bytes) => {
  for (let count = 1 + random.below(4); count > 0; count--) {
    const size = random.pick([1, 2, 4, 8]);
    const field = Buffer.alloc(8);
    field.writeBigUInt64BE(random.pick(extremes));
    const number = field.subarray(8 - size);
    (random.below(3) === 0 ? number.reverse() : number).copy(bytes, place(random, bytes.length));
  }
  return bytes;
};

/** Damages a number beside the name of a box, a chunk or an element: its size, version, count. */
const changeBesideName: Mutation = (random, bytes) => {
  const isLetter = (byte: number) => (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a);
  let at = place(random, bytes.length);
  while (at < bytes.length - 4 && !bytes.subarray(at, at + 4).every(isLetter)) at++;
  const to = at + random.pick([-4, -3, -2, -1, 4, 5, 7, 8, 11, 15, 19]);
  if (to >= 0 && to < bytes.length) bytes[to] = random.pick([0, 1, 0x7f, 0x80, 0xff, random.below(256)]);
  return bytes;
};

const truncate: Mutation = (random, bytes) => bytes.subarray(0, random.below(bytes.length) + 1);

const cutOut: Mutation = (random, bytes) => {
  const { at, end } = block(random, bytes.length);
  return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
};

const zero: Mutation = (random, bytes) => {
  const { at, end } = block(random, bytes.length);
  return bytes.fill(0, at, end);
};

const repeat: Mutation = (random, bytes) => {
  const { at, end } = block(random, bytes.length);
  const copies = Array.from({ length: 1 + random.below(4) }, () => bytes.subarray(at, end));
  return Buffer.concat([bytes.subarray(0, end), ...copies, bytes.subarray(end)]);
};

const splice: Mutation = (random, bytes, other) =>
  Buffer.concat([
    bytes.subarray(0, place(random, bytes.length)),
    other.subarray(place(random, other.length)),
  ]);

const insertOther: Mutation = (random, bytes, other) => {
  const { at, end } = block(random, other.length);
  const to = place(random, bytes.length);
  return Buffer.concat([bytes.subarray(0, to), other.subarray(at, end), bytes.subarray(to)]);
};

const mutations = {
  flipBits,
  changeBytes,
  setExtremes,
  changeBesideName,
  truncate,
  cutOut,
  zero,
  repeat,
  splice,
  insertOther,
};
const names = Object.keys(mutations) as (keyof typeof mutations)[];

/** A damaged copy of `source`, by one to three mutations, and their names. */
export function mutate(random: Random, source: Buffer, other: Buffer): { bytes: Buffer; how: string } {
  const chosen = Array.from({ length: 1 + random.below(3) }, () => random.pick(names));
  let bytes: Buffer = Buffer.from(source);
  for (const name of chosen) if (bytes.length > 0) bytes = mutations[name](random, bytes, other);
  return { bytes, how: chosen.join("+") };
}
