/** Whether the source's own streams are what would be made of them (M5): then they are taken over as they are. */
import type { H264Profile } from "@reelkeep/core/media/h264-level";
import type { LadderRendition } from "@reelkeep/core/media/ladder";
import type { EncodingProfile } from "@reelkeep/core/media/profile";
import type { RunWatch } from "../ffmpeg/run.ts";
import type { MediaTools } from "../ffmpeg/tools.ts";
import { type CopiedPicture, type EncodePlan, hasRealClock, type PlannedSound } from "./plan.ts";
import { planWindows } from "./plan-windows.ts";
import type { AudioProbe, SourceProbe } from "./probe.ts";
import { type Packet, readPackets } from "./read-packets.ts";

/** A segment of a copied stream may be so long (M3). */
const copiedSegmentSecondsMax = 10;
/** Tried in turn: shorter ones end at an earlier keyframe. */
const segmentSecondsToTry = [6, 5, 4, 3, 2];
/** Pictures that are stored before they are shown have room before the clock's start; see `clockStartSeconds`. */
const reorderSecondsMax = 0.35;
/** Longer than between any two pictures of a steady rate that is worth taking over. */
const gapSecondsMax = 0.5;
/** Between two packets. */
const leastSeconds = 1e-5;
/** Sound may cost so much more than ours would. */
const soundRateFactor = 1.5;

/** What browsers' decoders know for certain; a level says how large and fast a picture may be. */
const copiedProfiles: readonly string[] = ["Constrained Baseline", "Main", "High"] satisfies (
  | "Constrained Baseline"
  | Capitalize<H264Profile>
)[];
const levelIdcMax = 42;

/**
 * The same plan, with those streams taken over that need no encoding. Each doubt is for the encoder: a stream is
 * taken over only when its header, every one of its packets and its clock speak for it.
 */
export async function planCopies(
  tools: MediaTools,
  sourcePath: string,
  probe: SourceProbe,
  plan: EncodePlan,
  profile: Pick<EncodingProfile, "windows">,
  watch: RunWatch = {},
): Promise<EncodePlan> {
  // Other containers' clocks may jump, and their packets aren't always whole pictures.
  if (!probe.container.startsWith("mov") && !probe.container.startsWith("matroska")) return plan;
  const sounds: PlannedSound[] = [];
  for (const [i, sound] of plan.sounds.entries()) {
    const isCopied = await fitsSound(tools, sourcePath, probe.audio[i]!, sound, watch);
    sounds.push({ ...sound, isCopied });
  }
  const copied = fitsPicture(probe, plan) ? await findCuts(tools, sourcePath, plan, watch) : null;
  if (!copied) return { ...plan, sounds };
  const windows =
    plan.windows.length === 1
      ? plan.windows
      : planWindows(
          probe.container,
          profile.windows,
          { startSeconds: probe.video.lateSeconds, durationSeconds: probe.durationSeconds },
          copied.cutsSeconds,
        );
  return { ...plan, sounds, copied, windows };
}

/** What the probe and the plan say of the picture. */
function fitsPicture({ video }: SourceProbe, plan: EncodePlan): boolean {
  const top = plan.renditions[0]!;
  const { coded, pixelAspect, colorMatrix, h264 } = video;
  const isHd = coded.width >= 1280 || coded.height >= 720;
  return (
    h264 !== null &&
    copiedProfiles.includes(h264.profile) &&
    h264.levelIdc <= levelIdcMax &&
    video.pixelFormat === "yuv420p" &&
    !video.isInterlaced &&
    !video.isFullRange &&
    video.hdr === null &&
    (colorMatrix === "bt709" || (colorMatrix === null && isHd)) &&
    video.rotation === 0 &&
    pixelAspect.num === pixelAspect.den &&
    coded.width === top.width &&
    coded.height === top.height &&
    hasRealClock(video) &&
    plan.frameRateCap === null &&
    plan.holdFirstSeconds === 0 &&
    plan.holdLastSeconds === 0 &&
    // Without sound the picture is moved to the beginning, which a copy can't be.
    (plan.sounds.length > 0 || video.lateSeconds === 0)
  );
}

/** Reads every packet of the picture, without decoding; null when one of them speaks against taking it over. */
async function findCuts(
  tools: MediaTools,
  sourcePath: string,
  plan: EncodePlan,
  watch: RunWatch,
): Promise<CopiedPicture | null> {
  const stream = packetJudge(plan.renditions[0]!);
  const { startSeconds } = await readPackets(
    tools,
    sourcePath,
    plan.video.index,
    (packet) => stream.take(packet),
    watch,
  );
  const keyframes = stream.keyframes();
  if (!keyframes) return null;
  for (const segmentSeconds of segmentSecondsToTry) {
    const cuts = cutAt(keyframes.times, segmentSeconds);
    const ends = [...cuts.slice(1), keyframes.endSeconds];
    if (cuts.every((cut, i) => ends[i]! - cut <= copiedSegmentSecondsMax))
      return { segmentSeconds, cutsSeconds: cuts.map((cut) => cut - startSeconds) };
  }
  return null;
}

/** As FFmpeg cuts: at the first keyframe that comes `segmentSeconds` × n after the first, for n = 1, 2, … */
function cutAt(times: readonly number[], segmentSeconds: number): number[] {
  const [first = 0] = times;
  const cuts = [first];
  for (const time of times)
    if (time > first && time - first >= segmentSeconds * cuts.length - 1e-6) cuts.push(time);
  return cuts;
}

/** Judges packet by packet; memory grows by the keyframes alone. */
function packetJudge({ maxRateBps }: LadderRendition) {
  const bucketBitsMax = maxRateBps * 2;
  const times: number[] = [];
  let isFit = true;
  let before: Pick<Packet, "decodedSeconds"> | null = null;
  let latestSeconds = Number.NEGATIVE_INFINITY;
  let bucketBits = 0;
  const judge = (packet: Packet): boolean => {
    const { shownSeconds, sizeBytes, isKey } = packet;
    // Matroska doesn't say when a packet is decoded; of a stream's first ones FFmpeg doesn't know it.
    const decodedSeconds = Number.isFinite(packet.decodedSeconds)
      ? packet.decodedSeconds
      : before
        ? before.decodedSeconds + leastSeconds
        : shownSeconds - reorderSecondsMax;
    if (packet.isUnfit || !Number.isFinite(shownSeconds)) return false;
    if (!before) {
      if (!isKey || shownSeconds - decodedSeconds > reorderSecondsMax) return false;
    } else {
      if (decodedSeconds <= before.decodedSeconds) return false;
      if (decodedSeconds - before.decodedSeconds > gapSecondsMax) return false;
      // A picture that is shown before the keyframe it follows needs what comes before that keyframe.
      if (!isKey && shownSeconds < times.at(-1)!) return false;
      if (isKey && shownSeconds < latestSeconds) return false;
      // The cap that our encoder would hold: a bucket of two seconds that empties at the cap's rate.
      bucketBits = Math.max(0, bucketBits - maxRateBps * (decodedSeconds - before.decodedSeconds));
    }
    bucketBits += sizeBytes * 8;
    if (bucketBits > bucketBitsMax) return false;
    if (isKey) times.push(shownSeconds);
    latestSeconds = Math.max(latestSeconds, shownSeconds);
    before = { decodedSeconds };
    return true;
  };
  return {
    /** False once nothing more need be read. */
    take(packet: Packet): boolean {
      isFit &&= judge(packet);
      return isFit;
    },
    keyframes: () => (isFit && times.length > 0 ? { times, endSeconds: latestSeconds } : null),
  };
}

/** AAC-LC of one or two channels without gaps, at a rate like ours. */
async function fitsSound(
  tools: MediaTools,
  sourcePath: string,
  audio: AudioProbe,
  planned: PlannedSound,
  watch: RunWatch,
): Promise<boolean> {
  if (audio.codec !== "aac" || audio.profile !== "LC" || audio.channels !== planned.channels) return false;
  if (audio.sampleRateHz !== 48_000 && audio.sampleRateHz !== 44_100) return false;
  const frameSeconds = 1024 / audio.sampleRateHz;
  let expectedSeconds: number | null = null;
  let bits = 0;
  let seconds = 0;
  let isFit = true;
  let firstSeconds: number | null = null;
  const { startSeconds } = await readPackets(
    tools,
    sourcePath,
    audio.index,
    ({ shownSeconds, sizeBytes, isUnfit }) => {
      // The encoder's run-up is hidden at the beginning, as ours is.
      const isRunUp = isUnfit && seconds < 4 * frameSeconds;
      const isOff = expectedSeconds !== null && Math.abs(shownSeconds - expectedSeconds) > frameSeconds / 4;
      isFit = Number.isFinite(shownSeconds) && !isOff && (!isUnfit || isRunUp);
      firstSeconds ??= shownSeconds;
      expectedSeconds = shownSeconds + frameSeconds;
      bits += sizeBytes * 8;
      seconds += frameSeconds;
      return isFit;
    },
    watch,
  );
  // What begins later is led in by silence, and what begins earlier has no room.
  const isPrompt = firstSeconds !== null && Math.abs(firstSeconds - startSeconds) <= 0.1;
  return isFit && isPrompt && bits / seconds <= planned.bitRateBps * soundRateFactor;
}
