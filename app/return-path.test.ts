import { describe, expect, it } from "vitest";
import { safeReturnPath, signInPath } from "./return-path.ts";

describe("the way back after signing in", () => {
  it.each(["/", "/videos/1?tab=2#end", "/invite/abc", "/watch/5"])("X4 leads back to %s", (path) => {
    expect(safeReturnPath(path)).toBe(path);
  });

  it.each([
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example",
    "/\t/evil.example",
    "\\\\evil.example",
    "/.//evil.example",
    "/x/..//evil.example",
    "/%2e//evil.example",
    "/./\\evil.example",
    "/.//",
    "javascript:alert(1)",
    "videos/1",
    "",
    undefined,
    ["/a", "/b"],
  ])("X4 never leaves this site for %j", (value) => {
    expect(safeReturnPath(value)).toBe("/");
  });

  it("X4 never leads back to the entrance itself", () => {
    expect(safeReturnPath("/sign-in?next=/")).toBe("/");
    expect(safeReturnPath("/welcome")).toBe("/");
  });

  it("X4 what sign-in was asked for is what comes back", () => {
    const path = "/videos/1?q=a&b=c";
    const next = new URL(signInPath(path), "https://here.invalid").searchParams.get("next");
    expect(safeReturnPath(next ?? undefined)).toBe(path);
  });
});
