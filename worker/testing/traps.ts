/**
 * Files that make a careless reader open another file or an address. Each is written from the formats' own
 * descriptions: RFC 8216, the FFmpeg manual's "concat", ISO/IEC 14496-12 (dref), Apple's QuickTime File Format
 * ("Alias", "Movie Reference"), RFC 8794 and RFC 9559 (Matroska), Microsoft's RIFF AVI.
 */

/** What a trap points at. */
export interface Bait {
  /** A file that nobody may read. */
  readonly path: string;
  /** An address at which nobody may ask. */
  readonly url: string;
}

const playlist = (uri: string, ...tags: string[]): string =>
  ["#EXTM3U", "#EXT-X-TARGETDURATION:1", ...tags, "#EXTINF:1,", uri, "#EXT-X-ENDLIST", ""].join("\n");

const manifest = (base: string, name: string): string =>
  `<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011">
<Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1" width="32" height="32" codecs="avc1.42c00a">
<BaseURL>${base}</BaseURL><SegmentList duration="1"><Initialization sourceURL="${name}"/><SegmentURL media="${name}"/></SegmentList>
</Representation></AdaptationSet></Period></MPD>
`;

const folderOf = (uri: string): string => uri.slice(0, uri.lastIndexOf("/") + 1);
const nameOf = (uri: string): string => uri.slice(uri.lastIndexOf("/") + 1);

const svg = ({ path, url }: Bait): string =>
  `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY e SYSTEM "file://${path}">]>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="32" height="32">
<image xlink:href="file://${path}" width="16" height="16"/><image xlink:href="${url}" width="16" height="16"/>
<text>&e;</text></svg>
`;

/** A script of subtitles that asks for a font by path. */
export const assScript = ({ path }: Bait): string => `[Script Info]
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Default,${path},20

[Fonts]
fontname: ${path}

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,{\\fn${path}}text
`;

const sdp = (url: string): string => {
  const { hostname, port } = new URL(url);
  return `v=0\r\no=- 0 0 IN IP4 ${hostname}\r\ns=x\r\nc=IN IP4 ${hostname}\r\nt=0 0\r\na=control:rtsp://${hostname}:${port}/\r\nm=video ${port} TCP/RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n`;
};

/** Texts that FFmpeg takes for media, whatever their names; none of them is a video. */
export const textTraps: Readonly<Record<string, (bait: Bait) => string>> = {
  "an HLS playlist that names a file": ({ path }) => playlist(path),
  "an HLS playlist that names an address": ({ url }) => playlist(url),
  "an HLS playlist whose key is a file": ({ path }) =>
    playlist("missing.ts", `#EXT-X-KEY:METHOD=AES-128,URI="file://${path}"`),
  "an HLS playlist whose segment is concat: of two files": ({ path }) => playlist(`concat:${path}|${path}`),
  "a DASH manifest that names a file": ({ path }) => manifest(folderOf(path), nameOf(path)),
  "a DASH manifest that names an address": ({ url }) => manifest(folderOf(url), nameOf(url)),
  "a concat script that names a file": ({ path }) => `ffconcat version 1.0\nfile '${path}'\n`,
  "a concat script that names an address": ({ url }) => `ffconcat version 1.0\nfile '${url}'\n`,
  "an SVG picture with pictures": svg,
  "an ASS script with fonts": assScript,
  "a session description": ({ url }) => sdp(url),
  "an RTSP address": ({ url }) => `RTSPtext\r\n${url.replace("http:", "rtsp:")}\r\n`,
};

/** A RIFF chunk, padded to an even length. */
function riffChunk(id: string, ...parts: (string | Uint8Array)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string, "latin1")));
  const head = Buffer.alloc(8);
  head.write(id, "latin1");
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

/** The chunks of a RIFF list's body. */
function riffChunks(body: Buffer): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at + 8 <= body.length; ) {
    const length = body.readUInt32LE(at + 4);
    chunks.push(body.subarray(at, at + 8 + length + (length % 2)));
    at += 8 + length + (length % 2);
  }
  return chunks;
}

const isList = (chunk: Buffer, type: string): boolean => chunk.toString("latin1", 8, 12) === type;

/** An AVI with one more stream, of subtitles, whose text is `content`: a GAB2 chunk, as VirtualDub writes them. */
export function aviWithSubtitles(avi: Buffer, content: string): Buffer {
  const chunks = riffChunks(avi.subarray(12)).filter((chunk) => chunk.toString("latin1", 0, 4) !== "idx1");
  const streams = avi.readUInt32LE(avi.indexOf("avih") + 8 + 24);
  const header = Buffer.alloc(56);
  header.write("txts", "latin1");
  header.writeUInt32LE(1, 20);
  header.writeUInt32LE(25, 24);
  header.writeUInt32LE(1, 32);
  const gab2 = Buffer.alloc(17);
  gab2.write("GAB2\0", "latin1");
  gab2.writeUInt16LE(2, 5);
  gab2.writeUInt16LE(4, 11);
  gab2.writeUInt32LE(content.length, 13);
  const id = `${String(streams).padStart(2, "0")}tx`;
  const changed = chunks.map((chunk) => {
    if (isList(chunk, "hdrl")) {
      const more = riffChunk("LIST", "strl", riffChunk("strh", header), riffChunk("strf"));
      const list = riffChunk("LIST", chunk.subarray(8), more);
      list.writeUInt32LE(streams + 1, list.indexOf("avih") + 8 + 24);
      return list;
    }
    return isList(chunk, "movi")
      ? riffChunk("LIST", "movi", riffChunk(id, gab2, content), chunk.subarray(12))
      : chunk;
  });
  return riffChunk("RIFF", "AVI ", ...changed);
}

/** An ISO box. */
function box(type: string, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, body]);
}

/** `movie` with every `dref` box replaced. Its `moov` must come last, because what follows it moves. */
function withDataReference(movie: Buffer, dref: Buffer): Buffer {
  const parents = ["moov", "trak", "mdia", "minf", "dinf"];
  const rewrite = (bytes: Buffer): Buffer => {
    const made: Buffer[] = [];
    for (let at = 0; at < bytes.length; ) {
      const size = bytes.readUInt32BE(at);
      const type = bytes.toString("latin1", at + 4, at + 8);
      const whole = bytes.subarray(at, at + size);
      made.push(
        type === "dref" ? dref : parents.includes(type) ? box(type, rewrite(whole.subarray(8))) : whole,
      );
      at += size;
    }
    return Buffer.concat(made);
  };
  return rewrite(movie);
}

const fullBox = (type: string, ...parts: Uint8Array[]): Buffer => box(type, Buffer.alloc(4), ...parts);
const oneEntry = Buffer.from([0, 0, 0, 1]);

/** A movie whose samples lie in another file, named by a URL. */
export const movieOfUrl = (movie: Buffer, url: string): Buffer =>
  withDataReference(movie, fullBox("dref", oneEntry, fullBox("url ", Buffer.from(`${url}\0`))));

/** A movie whose samples lie in another file, named by an alias record of the old Mac OS. */
export function movieOfAlias(movie: Buffer, path: string): Buffer {
  const name = Buffer.alloc(64);
  name[0] = Math.min(63, nameOf(path).length);
  name.write(nameOf(path), 1, 63, "latin1");
  const volume = Buffer.alloc(28);
  const absolute = Buffer.from(path + (path.length % 2 ? "\0" : ""), "latin1");
  const record = Buffer.concat([
    Buffer.alloc(10),
    volume,
    Buffer.alloc(12),
    name,
    Buffer.alloc(16),
    // No levels between the two files, so that the absolute path is what counts.
    Buffer.alloc(4),
    Buffer.alloc(16),
    Buffer.from([0, 2, absolute.length >> 8, absolute.length & 255]),
    absolute,
    Buffer.from([255, 255, 0, 0]),
  ]);
  return withDataReference(movie, fullBox("dref", oneEntry, fullBox("alis", record)));
}

/** A movie that is nothing but the address of another. */
export function movieReference(url: string): Buffer {
  const address = Buffer.from(`${url}\0`);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(address.length);
  const data = fullBox("rdrf", Buffer.from("url "), length, address);
  return Buffer.concat([
    box("ftyp", Buffer.from("qt  \0\0\0\0qt  ")),
    box("moov", box("rmra", box("rmda", data))),
  ]);
}

/** An EBML element with a size of eight bytes. */
function element(id: string, ...parts: Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE((1n << 56n) | BigInt(body.length));
  return Buffer.concat([Buffer.from(id, "hex"), size, body]);
}

/**
 * A Matroska file that goes on in another: linked by name and id (RFC 9559 §17.1, hard linking), with chapters whose
 * order is binding and which lie in that other file (§17.2). `film` must be of unknown size (FFmpeg's `-live 1`).
 */
export function matroskaLinkedTo(film: Buffer, path: string): Buffer {
  const uid = Buffer.alloc(16, 7);
  const info = element(
    "1549a966",
    element("2ad7b1", Buffer.from([0x0f, 0x42, 0x40])),
    element("73a4", Buffer.alloc(16, 3)),
    element("3eb923", uid),
    element("3e83bb", Buffer.from(path)),
    element("3c83ab", Buffer.from(path)),
  );
  const atom = element(
    "b6",
    element("73c4", Buffer.from([1])),
    element("91", Buffer.from([0])),
    element("6e67", uid),
    element("98", Buffer.from([0])),
    element("4598", Buffer.from([1])),
  );
  const chapters = element("1043a770", element("45b9", element("45dd", Buffer.from([1])), atom));
  const tracksAt = film.indexOf(Buffer.from("1654ae6b", "hex"));
  const segmentBodyAt = film.indexOf(Buffer.from("18538067", "hex")) + 4 + 8;
  return Buffer.concat([film.subarray(0, segmentBodyAt), info, chapters, film.subarray(tracksAt)]);
}
