import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { AppError } from "@reelkeep/core/errors";
import { noCage } from "@reelkeep/worker/ffmpeg/cage";
import { engineFor } from "@reelkeep/worker/ffmpeg/engines";
import { type GpuAbilities, type GpuAbility, type GpuRefusal, tryGpu } from "@reelkeep/worker/ffmpeg/gpu";
import { type FfmpegParts, listParts } from "@reelkeep/worker/ffmpeg/parts";
import { findMediaTools } from "@reelkeep/worker/ffmpeg/tools";
import type { Findings } from "./findings.ts";

/** All that was found out about this machine's FFmpeg and its cards. */
export interface GpuFindings {
  readonly ffmpeg: FfmpegParts;
  /** Names of the cards that the driver knows. */
  readonly cards: readonly string[];
  readonly abilities: GpuAbilities;
  /** The same without FFmpeg's cage, where it is refused something within; else null. */
  readonly withoutCage: GpuAbilities | null;
}

/** `npm run doctor -- gpu`: really decodes, scales and encodes a few pictures. */
export async function examineGpu(): Promise<Findings> {
  try {
    const tools = await findMediaTools(process.env);
    const ffmpeg = await listParts(tools);
    const cards = cardNames();
    const abilities = await tryGpu(tools, ffmpeg);
    const asksAgain = cards.length > 0 && tools.cage !== noCage && !works(abilities);
    const withoutCage = asksAgain ? await tryGpu({ ...tools, cage: noCage }, ffmpeg) : null;
    return describeGpu({ ffmpeg, cards, abilities, withoutCage });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { usable: false, lines: [error.message], facts: { problem: error.message } };
  }
}

/** What was found, in words and as data. */
export function describeGpu({ ffmpeg, cards, abilities, withoutCage }: GpuFindings): Findings {
  const { processor } = engineFor(abilities);
  const advice = adviceFor({ ffmpeg, abilities, withoutCage });
  return {
    usable: works(abilities),
    facts: { uses: processor, ffmpeg, cards, abilities, withoutCage, advice },
    lines: [
      `FFmpeg ${ffmpeg.version}`,
      row("H.264 on the processor (libx264)", ffmpeg.libx264 ? "works" : notBuiltIn),
      row("HDR to SDR (zscale, tonemap)", ffmpeg.zscale && ffmpeg.tonemap ? "works" : notBuiltIn),
      "",
      `Graphics card: ${cards.join(", ") || "none that NVIDIA's driver knows"}`,
      row("Decoding (NVDEC)", abilities.nvdec),
      row("Scaling (scale_cuda)", abilities.scaleCuda),
      row("Encoding (NVENC, h264_nvenc)", abilities.nvenc),
      "",
      works(abilities)
        ? "Videos are made on the card; the processor takes over where it refuses one."
        : "Videos are made on the processor, in the same sizes and for the same players.",
      ...advice.map((sentence) => `→ ${sentence}`),
    ],
  };
}

const works = (abilities: GpuAbilities): boolean => engineFor(abilities).usesCard;

const notBuiltIn: GpuAbility = { refused: "not-built-in" };

const row = (what: string, ability: GpuAbility): string =>
  ability === "works" ? `  ok  ${what}` : `  no  ${what}: ${refusals[ability.refused].what}`;

/** Each begins in lower case, as the end of a row; `next` is what to do. */
const refusals: Readonly<Record<GpuRefusal, { readonly what: string; readonly next: string }>> = {
  "not-built-in": {
    what: "this FFmpeg was built without it",
    next: "For a card, use an FFmpeg with NVDEC, scale_cuda and NVENC, as Debian's and Ubuntu's are, and name it in FFMPEG_PATH.",
  },
  "no-driver": {
    what: "NVIDIA's driver isn't there",
    next: "For a card, install NVIDIA's driver; in a container, start it with the NVIDIA container toolkit and NVIDIA_DRIVER_CAPABILITIES=compute,video,utility.",
  },
  "driver-incomplete": {
    what: "the driver's part for video isn't there",
    next: "Start the container with NVIDIA_DRIVER_CAPABILITIES=compute,video,utility, or install the driver's libraries for video.",
  },
  "driver-too-old": {
    what: "the driver is too old for this FFmpeg",
    next: "Update NVIDIA's driver, or use the FFmpeg of the same age.",
  },
  "no-device": {
    what: "the driver has no card that FFmpeg may use",
    next: "Check with nvidia-smi that the card is seen, and that this user may use it.",
  },
  "not-on-this-card": {
    what: "this card has no circuit for it",
    next: "Choose a card that encodes, such as T4, L4 or A10G; A100, H100 and H200 decode but don't encode.",
  },
  "in-use": {
    what: "other programs have taken all of it",
    next: "Try again when other programs need less of the card.",
  },
  "no-answer": {
    what: "the card didn't answer in time",
    next: "Check with nvidia-smi whether the card is well; a restart of the machine may help.",
  },
  failed: {
    what: "it failed",
    next: "Try it by hand to see FFmpeg's own words: ffmpeg -f lavfi -i testsrc2=d=1 -pix_fmt yuv420p -c:v h264_nvenc -f null -",
  },
};

/** One sentence for each cause, the processor's own first. */
function adviceFor({ ffmpeg, abilities, withoutCage }: Omit<GpuFindings, "cards">): string[] {
  const { nvdec, scaleCuda, nvenc } = abilities;
  const refused = [nvdec, scaleCuda, nvenc].flatMap((ability) =>
    ability === "works" ? [] : [ability.refused],
  );
  const isComplete = ffmpeg.libx264 && ffmpeg.zscale && ffmpeg.tonemap;
  return [
    ...(isComplete ? [] : ["Install an FFmpeg with libx264, zscale and tonemap: the processor needs them."]),
    ...(withoutCage && works(withoutCage)
      ? [
          "The card works outside the cage that keeps FFmpeg from files and network, and not within. It isn't used then.",
        ]
      : [...new Set(refused)].map((refusal) => refusals[refusal].next)),
  ];
}

/** Linux alone: where the driver lists its cards. */
function cardNames(folder = "/proc/driver/nvidia/gpus"): string[] {
  try {
    return readdirSync(folder).map((name) => {
      const about = readFileSync(path.join(folder, name, "information"), "utf8");
      return /^Model:\s*(.+)$/m.exec(about)?.[1] ?? "unknown";
    });
  } catch {
    return [];
  }
}
