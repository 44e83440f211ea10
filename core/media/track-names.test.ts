import { describe, expect, it } from "vitest";
import { nameTracks } from "./track-names.ts";

const track = (language: string | null, title: string | null = null) => ({ language, title });

describe("names of tracks", () => {
  it("M4 a language of any spelling gets its shortest tag and its name", () => {
    expect(nameTracks([track("ger"), track("eng"), track("zho"), track("pt_BR")], "Sound")).toEqual([
      { language: "de", name: "German" },
      { language: "en", name: "English" },
      { language: "zh", name: "Chinese" },
      { language: "pt-BR", name: "Brazilian Portuguese" },
    ]);
  });

  it("M4 an unknown language is none", () => {
    for (const language of [null, "und", "zxx", "", "not a language", "qqq", "x-klingon", "🎬"])
      expect(nameTracks([track(language)], "Sound")).toEqual([{ language: null, name: "Sound" }]);
  });

  it("M4 a track's own title comes before its language, and can't break a playlist", () => {
    const [name] = nameTracks([track("eng", 'Director\'s "cut"\r\n#EXT-X-ENDLIST\u202e')], "Sound");
    expect(name).toEqual({ language: "en", name: "Director's cut #EXT-X-ENDLIST" });
    expect(nameTracks([track("eng", "é".repeat(200))], "Sound")[0]!.name).toHaveLength(60);
    expect(nameTracks([track("eng", " \n ")], "Sound")[0]!.name).toBe("English");
  });

  it("M4 two tracks never have one name", () => {
    const names = nameTracks([track("eng"), track("eng"), track("eng", "English 2"), track("eng")], "Sound");
    expect(names.map(({ name }) => name)).toEqual(["English", "English 2", "English 2 2", "English 3"]);
  });
});
