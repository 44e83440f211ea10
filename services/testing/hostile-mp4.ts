/** MP4 files of a few kilobytes whose headers promise four thousand million samples. */

const samples = 4_000_000_000;

const u32 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
};
const u16 = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index);
  return bytes;
};
const box = (type: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(8 + body.length), Buffer.from(type, "latin1"), body]);
};

const matrix = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);
const avcC = Buffer.from([1, 66, 192, 30, 255, 225, 0, 4, 103, 66, 192, 30, 1, 0, 2, 104, 206]);
const avc1 = box(
  "avc1",
  ...[Buffer.alloc(6), u16(1), Buffer.alloc(16), u16(320, 180), u32(0x480000, 0x480000, 0), u16(1)],
  ...[Buffer.alloc(32), u16(24, 0xffff), box("avcC", avcC)],
);

/** One H.264 track of 320×180 with the sample table given (ISO/IEC 14496-12). */
function file(sampleTable: readonly Buffer[], mvex: readonly Buffer[], rest: readonly Buffer[]): Buffer {
  const times = u32(0, 0, 0, 1000, 0);
  const media = box(
    "mdia",
    box("mdhd", times, u16(0x55c4, 0)),
    box("hdlr", u32(0, 0), Buffer.from("vide"), Buffer.alloc(13)),
    box(
      "minf",
      box("vmhd", u32(1, 0, 0)),
      box("dinf", box("dref", u32(0, 1), box("url ", u32(1)))),
      box("stbl", box("stsd", u32(0, 1), avc1), ...sampleTable),
    ),
  );
  const tkhd = box(
    "tkhd",
    ...[u32(3, 0, 0, 1, 0, 0, 0, 0), u16(0, 0, 0, 0), matrix, u32(320 * 65_536, 180 * 65_536)],
  );
  const mvhd = box(
    "mvhd",
    ...[times, u32(0x10000), u16(0x100, 0), u32(0, 0), matrix, Buffer.alloc(24), u32(2)],
  );
  return Buffer.concat([
    box("ftyp", Buffer.from("isom"), u32(512), Buffer.from("isomiso2avc1mp41")),
    box("moov", mvhd, box("trak", tkhd, media), ...mvex),
    ...rest,
    box("mdat", Buffer.alloc(4096)),
  ]);
}

const table = (type: string, ...rows: number[][]): Buffer => box(type, u32(0, rows.length, ...rows.flat()));
const stsc = (count: number) => table("stsc", [1, count, 1]);
const stsz = (count: number) => box("stsz", u32(0, 1, count));
const stco = table("stco", [48]);

/** Fills the memory of a reader that lists the samples of a fragment: `trun` without fields per sample. */
export const hugeFragment: Buffer = file(
  [table("stts"), table("stsc"), box("stsz", u32(0, 0, 0)), table("stco")],
  [box("mvex", box("trex", u32(0, 1, 1, 40, 10, 0)))],
  [
    box(
      "moof",
      box("mfhd", u32(0, 1)),
      box("traf", box("tfhd", u32(0x20000, 1)), box("tfdt", u32(0, 0)), box("trun", u32(0, samples))),
    ),
  ],
);

/** Fills the memory of a reader that lists the samples of an unfragmented file: one entry of `stts`. */
export const hugeSampleTable: Buffer = file(
  [table("stts", [samples, 40]), table("ctts", [10, 40]), stsc(samples), stsz(samples), stco],
  [],
  [],
);

/** Keeps a reader busy for minutes in one loop, in little memory: one entry of `ctts`. */
export const endlessOffsets: Buffer = file(
  [table("stts", [10, 40]), table("ctts", [samples, 40]), stsc(10), stsz(10), stco],
  [],
  [],
);
