/** Which renditions a source gets, and how large each is. */
import type { Size } from "./displayed-size.ts";
import { type H264Profile, h264Level } from "./h264-level.ts";
import type { EncodingProfile, Rung } from "./profile.ts";

/** One rendition to be made. Width and height are even and in square pixels. */
export interface LadderRendition {
  /** The rung's, e.g. `720p`; also the rendition's folder. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly crf: number;
  readonly maxRateBps: number;
  readonly h264Profile: H264Profile;
  /** 31 is level 3.1. */
  readonly h264LevelIdc: number;
}

/**
 * Two neighbours closer than this (ratio of their sides) are one too many: 480p beside 360p (0.75) is worth its
 * cost, 480p beside a source of 576 lines (0.83) is not.
 */
const neighbourRatioMax = 0.8;
const boxAspect = 16 / 9;

/**
 * The ladder for a source as it is displayed, largest first.
 *
 * A picture belongs to a rung by the 16:9 box (9:16 when upright) that it fits, not by its height, so 1280×544 and
 * 544×1280 are both `720p`. The top is the source's own size where the profile's largest rung allows it, also when
 * it lies between two rungs, and takes the name of the nearest one; below it follow the rungs that are clearly
 * smaller. Nothing is enlarged, except that a side of one pixel becomes two: H.264 at 4:2:0 needs even sides.
 */
export function planLadder(
  source: Size,
  frameRate: number,
  profile: Pick<EncodingProfile, "rungs">,
): LadderRendition[] {
  const boxSide = boxShortSide(source);
  const largest = profile.rungs.at(-1)!;
  const topSide = Math.min(boxSide, largest.shortSidePx);
  const steps = [{ rung: nearestRung(topSide, profile.rungs), side: topSide }];
  for (const rung of profile.rungs.toReversed())
    if (rung.shortSidePx <= steps.at(-1)!.side * neighbourRatioMax)
      steps.push({ rung, side: rung.shortSidePx });
  return steps.map(({ rung, side }) => rendition(rung, fit(source, side, boxSide), side, frameRate));
}

/** The short side of the smallest 16:9 (or 9:16) box that holds the picture. */
function boxShortSide({ width, height }: Size): number {
  const long = Math.max(width, height);
  const short = Math.min(width, height);
  return Math.max(short, long / boxAspect);
}

function nearestRung(side: number, rungs: EncodingProfile["rungs"]): Rung {
  const distance = (rung: Rung) => Math.abs(Math.log(rung.shortSidePx / side));
  return rungs.reduce((best, rung) => (distance(rung) < distance(best) ? rung : best));
}

/** The even size that keeps the aspect best in a box of short side `side`, and isn't larger than the source. */
function fit(source: Size, side: number, boxSide: number): Size {
  const aspect = source.width / source.height;
  const isWide = aspect >= 1;
  const longMax = 2 * Math.round((side * boxAspect) / 2);
  const sides = (length: number, isLong: boolean) =>
    evenNeighbours((length * side) / boxSide, Math.min(length, isLong ? longMax : side));
  const candidates = sides(source.width, isWide).flatMap((width) =>
    sides(source.height, !isWide).map((height) => ({ width, height })),
  );
  const error = ({ width, height }: Size) => Math.abs(Math.log(width / height / aspect));
  return candidates.reduce((best, size) => (error(size) < error(best) - 1e-9 ? size : best));
}

/** The even numbers beside `exact`, the nearer first, none above `max`; at least 2. */
function evenNeighbours(exact: number, max: number): number[] {
  const below = Math.max(2, 2 * Math.floor(exact / 2 + 1e-9));
  const above = below + 2;
  if (above > max) return [below];
  return exact - below <= above - exact ? [below, above] : [above, below];
}

/** A picture larger or smaller than its rung may cost accordingly more or less; bits grow slower than pixels. */
function rendition(rung: Rung, size: Size, side: number, frameRate: number): LadderRendition {
  const maxRateBps = Math.round((rung.maxRateBps * (side / rung.shortSidePx) ** 1.5) / 1000) * 1000;
  return {
    name: rung.name,
    ...size,
    crf: rung.crf,
    maxRateBps: Math.max(maxRateBps, 64_000),
    h264Profile: rung.h264Profile,
    h264LevelIdc: h264Level({ ...size, frameRate, maxRateBps }),
  };
}
