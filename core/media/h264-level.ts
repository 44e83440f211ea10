/** H.264 levels and the codec string by which playlists name them. */

export type H264Profile = "main" | "high";

interface Level {
  /** As H.264 writes it: 31 is level 3.1. */
  readonly idc: number;
  readonly macroblocksPerSecondMax: number;
  readonly macroblocksPerFrameMax: number;
  /** Main profile, in kbit/s; High may use 1.25 times as much. */
  readonly bitRateKbpsMax: number;
}

/** ITU-T H.264 (08/2021), table A-1; 1b and 1.1 are left out because nothing is gained by them. */
const levels: readonly Level[] = [
  level(10, 1_485, 99, 64),
  level(12, 6_000, 396, 384),
  level(13, 11_880, 396, 768),
  level(20, 11_880, 396, 2_000),
  level(21, 19_800, 792, 4_000),
  level(22, 20_250, 1_620, 4_000),
  level(30, 40_500, 1_620, 10_000),
  level(31, 108_000, 3_600, 14_000),
  level(32, 216_000, 5_120, 20_000),
  level(40, 245_760, 8_192, 20_000),
  level(42, 522_240, 8_704, 50_000),
  level(50, 589_824, 22_080, 135_000),
  level(51, 983_040, 36_864, 240_000),
  level(52, 2_073_600, 36_864, 240_000),
  level(60, 4_177_920, 139_264, 240_000),
  level(62, 16_711_680, 139_264, 800_000),
];

function level(idc: number, perSecond: number, perFrame: number, kbps: number): Level {
  return {
    idc,
    macroblocksPerSecondMax: perSecond,
    macroblocksPerFrameMax: perFrame,
    bitRateKbpsMax: kbps,
  };
}

/**
 * The lowest level that a picture of this size, rate and bit rate may claim, times ten (31 is level 3.1).
 * Neither side may exceed sqrt(8 × the frame's limit) macroblocks (A.3.1, items f and g).
 */
export function h264Level(picture: {
  readonly width: number;
  readonly height: number;
  readonly frameRate: number;
  readonly maxRateBps: number;
}): number {
  const across = Math.ceil(picture.width / 16);
  const down = Math.ceil(picture.height / 16);
  const fits = (l: Level) =>
    across * down <= l.macroblocksPerFrameMax &&
    Math.max(across, down) <= Math.sqrt(8 * l.macroblocksPerFrameMax) &&
    across * down * picture.frameRate <= l.macroblocksPerSecondMax &&
    picture.maxRateBps <= l.bitRateKbpsMax * 1000;
  return (levels.find(fits) ?? levels.at(-1)!).idc;
}

/** profile_idc of H.264, A.2. */
const profileIdc: Readonly<Record<H264Profile, number>> = { main: 77, high: 100 };

/** What an SPS says of itself: three bytes that RFC 6381 §3.3 writes in hexadecimal after `avc1.`. */
export interface AvcParameters {
  readonly profileIdc: number;
  readonly constraints: number;
  readonly levelIdc: number;
}

/** `avc1.64001f` and the like. */
export const avcCodecString = ({ profileIdc, constraints, levelIdc }: AvcParameters): string =>
  `avc1.${[profileIdc, constraints, levelIdc].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;

/** Whether a codec string is the planned profile and level; the encoder chooses the constraint flags itself. */
export function isPlannedAvc(codec: string, planned: { profile: H264Profile; levelIdc: number }): boolean {
  const [, profile, levelIdc] = /^avc1\.([0-9a-f]{2})[0-9a-f]{2}([0-9a-f]{2})$/.exec(codec) ?? [];
  return (
    Number.parseInt(profile ?? "", 16) === profileIdc[planned.profile] &&
    Number.parseInt(levelIdc ?? "", 16) === planned.levelIdc
  );
}
