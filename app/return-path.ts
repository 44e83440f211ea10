/** Any origin will do: it shows whether a path stays on its own. */
const here = "https://here.invalid";

/**
 * Where to go after signing in: `value` when it is a path on this site, else the library. A path that browsers
 * read as another host (`//host`, `/\host`, and what becomes one once its dots are resolved: `/.//host`), and the
 * entrance itself, are not followed.
 */
export function safeReturnPath(value: string | string[] | undefined): string {
  if (typeof value !== "string" || !value.startsWith("/") || !URL.canParse(value, here)) return "/";
  const url = new URL(value, here);
  if (url.origin !== here || url.pathname === "/sign-in" || url.pathname === "/welcome") return "/";
  const path = `${url.pathname}${url.search}${url.hash}`;
  return path.startsWith("//") ? "/" : path;
}

/** The sign-in page that leads back to `path`. */
export const signInPath = (path: string): string =>
  path === "/" ? "/sign-in" : `/sign-in?next=${encodeURIComponent(path)}`;
