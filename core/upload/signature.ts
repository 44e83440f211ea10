/**
 * What a file is, told from its first bytes. Name, media type and signature need not agree; the signature decides.
 * Sources: ISO/IEC 14496-12 (ftyp), RFC 8794 (EBML), ISO/IEC 13818-1 (TS, PS), RFC 3533 (Ogg), and the formats'
 * own specifications for RIFF, ASF, FLV and GIF.
 */

/** How many of the first bytes {@link readSignature} looks at. */
export const signatureBytes = 4096;

/** Containers that may hold a video, and what else people upload by mistake. */
export type FileSignature =
  | { readonly kind: "video"; readonly container: VideoContainer }
  | { readonly kind: "other"; readonly name: string }
  | { readonly kind: "unknown" };

export type VideoContainer =
  | "mp4"
  | "matroska"
  | "mpeg-ts"
  | "mpeg-ps"
  | "avi"
  | "asf"
  | "flv"
  | "ogg"
  | "gif";

/** Reads the signature of a file from its first bytes (fewer than {@link signatureBytes} only if it is that short). */
export function readSignature(head: Uint8Array): FileSignature {
  const container = videoContainers.find(([, matches]) => matches(head))?.[0];
  if (container) return { kind: "video", container };
  const name = otherFiles.find(([, matches]) => matches(head))?.[0];
  return name ? { kind: "other", name } : { kind: "unknown" };
}

type Matcher = (head: Uint8Array) => boolean;

const ascii = (head: Uint8Array, offset: number, text: string) =>
  [...text].every((char, i) => head[offset + i] === char.charCodeAt(0));
const bytes = (head: Uint8Array, ...values: number[]) => values.every((value, i) => head[i] === value);

/** Boxes that an ISO or QuickTime file may begin with; old QuickTime files have no ftyp. */
const isoBoxes = ["ftyp", "moov", "mdat", "free", "skip", "wide", "pnot", "styp", "moof", "sidx", "uuid"];

/** 0x47 at the start of every packet; packets of 188 bytes, or 192 with a time code before each (M2TS). */
function isTransportStream(head: Uint8Array): boolean {
  const packets = (offset: number, length: number) => {
    const count = Math.min(4, Math.floor((head.length - offset) / length));
    return (
      count >= 1 &&
      Array.from({ length: count }, (_, i) => head[offset + i * length]).every((b) => b === 0x47)
    );
  };
  if (packets(4, 192)) return true;
  // A recording may begin in the middle of a packet: four sync bytes in a row decide.
  for (let offset = 0; offset < 188; offset++) {
    if (head.length - offset >= 4 * 188 ? packets(offset, 188) : offset === 0 && packets(0, 188)) return true;
  }
  return false;
}

const videoContainers: readonly (readonly [VideoContainer, Matcher])[] = [
  ["mp4", (h) => isoBoxes.some((box) => ascii(h, 4, box)) && !isStillImage(h)],
  ["matroska", (h) => bytes(h, 0x1a, 0x45, 0xdf, 0xa3)],
  ["avi", (h) => ascii(h, 0, "RIFF") && ascii(h, 8, "AVI ")],
  ["asf", (h) => bytes(h, 0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11)],
  ["flv", (h) => ascii(h, 0, "FLV")],
  ["ogg", (h) => ascii(h, 0, "OggS")],
  ["gif", (h) => ascii(h, 0, "GIF87a") || ascii(h, 0, "GIF89a")],
  ["mpeg-ps", (h) => bytes(h, 0, 0, 1, 0xba) || bytes(h, 0, 0, 1, 0xb3)],
  ["mpeg-ts", isTransportStream],
];

/** HEIF and AVIF pictures are ISO files too: the major brand tells. */
const isStillImage = (h: Uint8Array) =>
  ascii(h, 4, "ftyp") && ["heic", "heix", "mif1", "avif", "crx "].some((brand) => ascii(h, 8, brand));

const startsWithText = (...starts: string[]): Matcher => {
  return (h) => {
    const text = new TextDecoder()
      .decode(h.subarray(0, 512))
      .replace(/^\uFEFF/, "")
      .trimStart()
      .toLowerCase();
    return starts.some((start) => text.startsWith(start));
  };
};

/** Names complete the sentence "It looks like …". */
const otherFiles: readonly (readonly [string, Matcher])[] = [
  ["a ZIP archive", (h) => bytes(h, 0x50, 0x4b, 3, 4) || bytes(h, 0x50, 0x4b, 5, 6)],
  ["a PNG picture", (h) => bytes(h, 0x89, 0x50, 0x4e, 0x47)],
  ["a JPEG picture", (h) => bytes(h, 0xff, 0xd8, 0xff)],
  ["a HEIF or AVIF picture", isStillImage],
  ["a WebP picture", (h) => ascii(h, 0, "RIFF") && ascii(h, 8, "WEBP")],
  ["a PDF document", (h) => ascii(h, 0, "%PDF")],
  [
    "a sound file",
    (h) => ascii(h, 0, "ID3") || (ascii(h, 0, "RIFF") && ascii(h, 8, "WAVE")) || ascii(h, 0, "fLaC"),
  ],
  ["a sound file", (h) => h[0] === 0xff && ((h[1] ?? 0) & 0xe0) === 0xe0],
  ["a RAR archive", (h) => ascii(h, 0, "Rar!")],
  ["a 7-Zip archive", (h) => bytes(h, 0x37, 0x7a, 0xbc, 0xaf)],
  ["a gzip archive", (h) => bytes(h, 0x1f, 0x8b)],
  ["a program", (h) => ascii(h, 0, "MZ") || bytes(h, 0x7f, 0x45, 0x4c, 0x46)],
  ["a playlist", startsWithText("#extm3u", "ffconcat")],
  ["a web page", startsWithText("<!doctype html", "<html", "<head", "<body", "<script")],
  ["an XML file", startsWithText("<?xml", "<svg")],
  ["a JSON file", startsWithText("{", "[")],
];
