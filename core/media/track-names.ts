/** How a source's sound tracks and subtitles are called in playlists and menus. */

/** What the source says of one of its tracks. */
export interface TrackFacts {
  /** As containers write it: ISO 639-1, 639-2 or a BCP 47 tag; null when it doesn't say. */
  readonly language: string | null;
  /** A title that somebody gave the track. */
  readonly title: string | null;
}

export interface TrackName {
  /** BCP 47 in its shortest form, e.g. `de` for `ger` and `deu`; null when it isn't known. */
  readonly language: string | null;
  /** Unlike the others' of its list. */
  readonly name: string;
}

const nameCharsMax = 60;
const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/**
 * Names for the tracks of one kind: the title where there is one, else the language's name in English, else
 * `otherwise`. Two of one name are told apart by a number.
 */
export function nameTracks(tracks: readonly TrackFacts[], otherwise: string): TrackName[] {
  const taken = new Set<string>();
  return tracks.map((track) => {
    const language = languageTag(track.language);
    const wanted = plainTitle(track.title) ?? (language && languageNames.of(language)) ?? otherwise;
    let name = wanted;
    for (let count = 2; taken.has(name); count++) name = `${wanted} ${count}`;
    taken.add(name);
    return { language, name };
  });
}

/** Words for no language: undetermined, no linguistic content, uncoded, several (ISO 639-2). */
const noLanguage = new Set(["und", "zxx", "mis", "mul", "unk"]);

function languageTag(text: string | null): string | null {
  if (!text) return null;
  try {
    const tag = Intl.getCanonicalLocales(text.replaceAll("_", "-"))[0] ?? null;
    return tag && !noLanguage.has(tag.toLowerCase()) && languageNames.of(tag) ? tag : null;
  } catch {
    return null;
  }
}

/** One line without what an attribute can't hold (RFC 8216 §4.2: quotes and line breaks). */
function plainTitle(title: string | null): string | null {
  const line = (title ?? "").replace(/[\p{Cc}\p{Cf}"]+/gu, " ").replace(/\s+/g, " ");
  return [...line].slice(0, nameCharsMax).join("").trim() || null;
}
