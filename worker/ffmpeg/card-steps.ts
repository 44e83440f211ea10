/** Filter chains whose pictures lie in a card's memory for a part of their way. */

/** The formats in which pictures lie there: eight and ten bits as decoded, and as they are encoded. */
export type CardFormat = "nv12" | "p010le" | "yuv420p";

/** One filter, and where its pictures have to be; null: it only looks at their times and labels. */
export interface PlacedStep {
  readonly filter: string;
  readonly place: "memory" | "card" | null;
}

const placed =
  (place: PlacedStep["place"]) =>
  (filters: readonly string[]): PlacedStep[] =>
    filters.map((filter) => ({ filter, place }));
export const anywhere = placed(null);
export const inMemory = placed("memory");
export const onCard = placed("card");

/** Scales on the card, and makes eight bits of ten; it knows nothing of colours. */
export const cardScale = ({ width, height }: { readonly width: number; readonly height: number }): string =>
  `scale_cuda=${width}:${height}:interp_algo=bicubic:format=${encodedFormat}`;

/** All that comes out of a card's filter, and all that is sent there, is in this format. */
const encodedFormat = "yuv420p" satisfies CardFormat;

/**
 * The filters of a chain with the ways between: pictures are fetched from the card where a filter needs them in
 * memory, and sent back where the next one needs them there, or the end does.
 *
 * @param from How the pictures lie in the card's memory; null: they begin in ours.
 */
export function travel(
  steps: readonly PlacedStep[],
  from: CardFormat | null,
  to: "memory" | "card",
): string[] {
  let lying = from;
  const bring = (place: PlacedStep["place"]): string[] => {
    if (place === "memory" && lying !== null) {
      const fetched = ["hwdownload", `format=${lying}`];
      lying = null;
      return fetched;
    }
    if (place === "card") {
      const sent = lying === null ? [`format=${encodedFormat}`, "hwupload_cuda"] : [];
      lying = encodedFormat;
      return sent;
    }
    return [];
  };
  return [...steps.flatMap(({ filter, place }) => [...bring(place), filter]), ...bring(to)];
}
