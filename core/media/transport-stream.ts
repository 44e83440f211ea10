/** What an MPEG-TS segment says of its own picture: when it begins and ends, and how it is coded. */
import type { AvcParameters } from "./h264-level.ts";

export interface VideoFacts {
  /** Presentation times of the earliest and the latest frame. */
  readonly firstSeconds: number;
  readonly lastSeconds: number;
  /** Null when no sequence parameter set lies before the second frame. */
  readonly avc: AvcParameters | null;
  /** The whole first sequence parameter set, in hexadecimal; empty when there is none. */
  readonly sps: string;
  /** Whether the first frame can be decoded, and all after it, without any before it (an IDR picture). */
  readonly startsWithIdr: boolean;
}

export interface VideoFactsReader {
  /** The next bytes of the segment, in any portions. */
  readonly push: (bytes: Uint8Array) => void;
  /** Null when the segment holds no video. */
  readonly facts: () => VideoFacts | null;
}

const packetBytes = 188;
const syncByte = 0x47;
/** Time stamps count a clock of 90 kHz. */
const ticksPerSecond = 90_000;

/**
 * Reads the first video stream (PES stream id 0xE0 to 0xEF) of a segment while it passes through.
 * ISO/IEC 13818-1: §2.4.3.2 packets, §2.4.3.4 adaptation fields, §2.4.3.6 PES headers. H.264: Annex B and §7.3.1.
 */
export function videoFactsReader(): VideoFactsReader {
  let rest = new Uint8Array();
  let videoPid: number | null = null;
  let frames = 0;
  let firstTicks = Number.POSITIVE_INFINITY;
  let lastTicks = Number.NEGATIVE_INFINITY;
  /** Payload of the first frame, where the parameter sets are. */
  const opening: Uint8Array[] = [];

  const readPacket = (packet: Uint8Array) => {
    if (packet[0] !== syncByte) return;
    const payload = payloadOf(packet);
    if (!payload) return;
    const startsUnit = (packet[1]! & 0x40) !== 0;
    const pid = ((packet[1]! & 0x1f) << 8) | packet[2]!;
    const ticks = startsUnit ? videoTicks(payload) : null;
    if (ticks !== null) {
      videoPid ??= pid;
      if (pid === videoPid) {
        frames++;
        firstTicks = Math.min(firstTicks, ticks);
        lastTicks = Math.max(lastTicks, ticks);
      }
    }
    if (pid === videoPid && frames === 1) opening.push(payload.slice());
  };

  return {
    push(bytes) {
      const whole = rest.length === 0 ? bytes : concat([rest, bytes]);
      const end = whole.length - (whole.length % packetBytes);
      for (let offset = 0; offset < end; offset += packetBytes)
        readPacket(whole.subarray(offset, offset + packetBytes));
      rest = whole.slice(end);
    },
    facts() {
      if (frames === 0) return null;
      return {
        firstSeconds: firstTicks / ticksPerSecond,
        lastSeconds: lastTicks / ticksPerSecond,
        ...openingFacts(concat(opening)),
      };
    },
  };
}

function payloadOf(packet: Uint8Array): Uint8Array | null {
  const control = packet[3]!;
  if ((control & 0x10) === 0) return null;
  return packet.subarray((control & 0x20) === 0 ? 4 : 5 + packet[4]!);
}

/** The presentation time in a video's PES header; null for anything else. */
function videoTicks(pes: Uint8Array): number | null {
  const isVideo =
    pes.length >= 14 && pes[0] === 0 && pes[1] === 0 && pes[2] === 1 && (pes[3]! & 0xf0) === 0xe0;
  if (!isVideo || (pes[7]! & 0x80) === 0) return null;
  const high = (pes[9]! >> 1) & 0x07;
  const middle = (pes[10]! << 7) | (pes[11]! >> 1);
  const low = (pes[12]! << 7) | (pes[13]! >> 1);
  return high * 2 ** 30 + middle * 2 ** 15 + low;
}

/** H.264, table 7-1: the kinds of NAL units. */
const idrUnit = 5;
const parametersUnit = 7;

function openingFacts(bytes: Uint8Array): Pick<VideoFacts, "avc" | "sps" | "startsWithIdr"> {
  let sps: Uint8Array | null = null;
  let startsWithIdr = false;
  for (let at = nextUnit(bytes, 0); at !== null; ) {
    const next = nextUnit(bytes, at);
    const kind = bytes[at]! & 0x1f;
    // The start code of the next unit may have a zero more before its three bytes.
    if (kind === parametersUnit)
      sps ??= trimZeros(bytes.subarray(at, next === null ? bytes.length : next - 3));
    if (kind === idrUnit) startsWithIdr = true;
    at = next;
  }
  const hasAvc = sps !== null && sps.length >= 4;
  return {
    avc: hasAvc ? { profileIdc: sps![1]!, constraints: sps![2]!, levelIdc: sps![3]! } : null,
    sps: sps ? Array.from(sps, (byte) => byte.toString(16).padStart(2, "0")).join("") : "",
    startsWithIdr,
  };
}

/** Where the first NAL unit after `from` begins, behind its start code; null when there is none. */
function nextUnit(bytes: Uint8Array, from: number): number | null {
  for (let i = from; i + 3 < bytes.length; i++)
    if (bytes[i] === 0 && bytes[i + 1] === 0 && bytes[i + 2] === 1) return i + 3;
  return null;
}

function trimZeros(bytes: Uint8Array): Uint8Array {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
}

function concat(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
