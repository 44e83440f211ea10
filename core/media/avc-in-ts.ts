/** Finds an H.264 stream's own description of itself at the start of an MPEG-TS segment. */
import type { AvcParameters } from "./h264-level.ts";

const packetBytes = 188;
const syncByte = 0x47;

/**
 * The first sequence parameter set in the bytes of a segment's beginning (64 KiB are plenty: it comes before the
 * first picture), or null where there is none. ISO/IEC 13818-1 §2.4.3 for packets, H.264 §7.3.1 and Annex B for
 * NAL units. Only packets of the video's elementary stream (PES stream id 0xE0 to 0xEF) are looked at.
 */
export function avcParametersOf(segment: Uint8Array): AvcParameters | null {
  const bytes = videoPayload(segment);
  for (let i = 0; i + 6 < bytes.length; i++) {
    if (bytes[i] !== 0 || bytes[i + 1] !== 0 || bytes[i + 2] !== 1 || (bytes[i + 3]! & 0x1f) !== 7) continue;
    return { profileIdc: bytes[i + 4]!, constraints: bytes[i + 5]!, levelIdc: bytes[i + 6]! };
  }
  return null;
}

/** The payload of the packets that carry the first video stream, PES headers included. */
function videoPayload(segment: Uint8Array): Uint8Array {
  let videoPid: number | null = null;
  const parts: Uint8Array[] = [];
  for (let offset = 0; offset + packetBytes <= segment.length; offset += packetBytes) {
    const packet = segment.subarray(offset, offset + packetBytes);
    if (packet[0] !== syncByte) return new Uint8Array();
    const startsUnit = (packet[1]! & 0x40) !== 0;
    const pid = ((packet[1]! & 0x1f) << 8) | packet[2]!;
    const hasAdaptation = (packet[3]! & 0x20) !== 0;
    const hasPayload = (packet[3]! & 0x10) !== 0;
    if (!hasPayload) continue;
    const payload = packet.subarray(hasAdaptation ? 5 + packet[4]! : 4);
    const isVideoStart =
      startsUnit && payload[0] === 0 && payload[1] === 0 && payload[2] === 1 && (payload[3]! & 0xf0) === 0xe0;
    if (isVideoStart) videoPid ??= pid;
    if (pid === videoPid) parts.push(payload);
  }
  return concat(parts);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
