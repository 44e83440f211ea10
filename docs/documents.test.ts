/** Compares what the documents say with the code, so that neither can move away from the other unseen. */
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { assetMachine } from "@reelkeep/core/asset/machine";
import { attemptMachine } from "@reelkeep/core/job/attempt-machine";
import { jobMachine } from "@reelkeep/core/job/machine";
import { toMermaid } from "@reelkeep/core/machine";
import { outboxMachine } from "@reelkeep/core/outbox/machine";
import { uploadMachine } from "@reelkeep/core/upload/machine";
import { readSettings } from "@reelkeep/local/settings";
import { describe, expect, it } from "vitest";

const root = path.dirname(import.meta.dirname);
const read = (file: string) => readFileSync(path.join(root, file), "utf8");
const documents = globSync(["*.md", "docs/**/*.md"], { cwd: root });
const architecture = read("ARCHITECTURE.md");

const testFiles = globSync(
  "{app,aws,components,core,db,e2e,local,services,worker}/**/*.{test,spec}.{ts,tsx}",
  {
    cwd: root,
    exclude: (name) => name === "node_modules",
  },
);

/** The text below a heading, to the next heading of the same or a higher level. */
function section(text: string, heading: string): string {
  const level = /^#+/.exec(heading)![0].length;
  const start = text.indexOf(`\n${heading}\n`);
  if (start < 0) throw new Error(`there is no heading "${heading}"`);
  const rest = text.slice(start + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${level}} `, "m"));
  return end < 0 ? rest : rest.slice(0, end);
}

/** The cells of a section's table rows, without the head. */
const rowsOf = (text: string): string[][] =>
  [...text.matchAll(/^\|(.+)\|$/gm)]
    .map(([, row]) => row!.split("|").map((cell) => cell.trim()))
    .filter(([first]) => !/^-+$/.test(first!))
    .slice(1);

/** Every match of the pattern's first group in a file. */
const namesIn = (file: string, pattern: RegExp): string[] =>
  [...read(file).matchAll(pattern)].map(([, name]) => name!);

/** The headings of a document, as links name them. */
const headingsOf = (document: string): string[] =>
  namesIn(document, /^#+ (.+)$/gm).map((heading) =>
    heading
      .toLowerCase()
      .replace(/[^\w\s-]/g, "")
      .replaceAll(" ", "-"),
  );

describe("the state charts", () => {
  it.each(Object.entries({ uploadMachine, jobMachine, attemptMachine, assetMachine, outboxMachine }))(
    "ARCHITECTURE.md draws %s as the code tells it",
    (name, machine) => {
      const text = read("ARCHITECTURE.md");
      const [, before, drawn, after] =
        new RegExp(`^([^]*<!-- chart: ${name} -->\n)([^]*?)(<!-- /chart -->[^]*)$`).exec(text) ?? [];
      const wanted = `\`\`\`mermaid\n${toMermaid(machine)}\n\`\`\`\n`;
      if (process.env.UPDATE_DOCS && before && after)
        writeFileSync(path.join(root, "ARCHITECTURE.md"), before + wanted + after);
      else expect(drawn, "UPDATE_DOCS=1 npx vitest run docs draws it anew").toBe(wanted);
    },
  );
});

describe("what documents refer to", () => {
  it.each(documents)("%s links to files and headings that are there", (document) => {
    const links = namesIn(document, /\]\((?!https?:)([^)\s]+)\)/g);
    const missing = links.filter((link) => {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? document : path.join(path.dirname(document), file);
      if (!existsSync(path.join(root, target))) return true;
      return anchor !== undefined && !headingsOf(target).includes(anchor);
    });
    expect(missing).toEqual([]);
  });

  it.each(documents)("%s names paths that are there", (document) => {
    const named = namesIn(
      document,
      /`((?:app|aws|components|core|db|docs|e2e|local|public|services|worker)\/[\w./()[\]-]*)`/g,
    );
    // What set-up makes is there only after the first start.
    const missing = named.filter(
      (name) => !name.startsWith("public/sample") && !existsSync(path.join(root, name)),
    );
    expect(missing).toEqual([]);
  });

  it.each(documents)("%s names tests that are there", (document) => {
    const cited = [...read(document).matchAll(/`([\w./-]+\.(?:test|spec)\.tsx?)` · “([^”]+)”/g)];
    const missing = cited.filter(
      ([, file, title]) => !existsSync(path.join(root, file!)) || !read(file!).includes(title!),
    );
    expect(missing.map(([citation]) => citation)).toEqual([]);
  });

  it("every decision is listed where decisions are told", () => {
    const decisions = documents.filter((document) => /^docs\/adr\/\d{4}-/.test(document));
    const unlisted = decisions.filter((document) => !architecture.includes(`(${document})`));
    expect(unlisted).toEqual([]);
  });
});

describe("settings", () => {
  it("the README's table has the names and defaults of local/settings.ts", () => {
    const told = rowsOf(section(read("README.md"), "## Settings")).map(([name, value]) => [name, value]);
    const settings: Record<string, unknown> = readSettings({});
    const names = namesIn("local/settings.ts", /^ {2}([A-Z][A-Z0-9_]+):/gm);
    const real = names.map((name) => {
      const value =
        name === "REELKEEP_DATA_DIR" ? path.relative(root, String(settings[name])) : settings[name];
      return [`\`${name}\``, value === undefined ? "–" : `\`${value}\``];
    });
    expect(told).toEqual(real);
  });

  it.each([
    ["## The web server", "app/server/env.ts"],
    ["## A worker", "worker/main.ts"],
    ["## The local storage", "local/s3/main.ts"],
  ])("docs/environment.md tells %s all variables of %s", (heading, source) => {
    const told = rowsOf(section(read("docs/environment.md"), heading)).map(([name]) => name);
    const real = namesIn(source, /^ {2,4}([A-Z][A-Z0-9_]+):/gm);
    expect(told).toEqual(real.map((name) => `\`${name}\``));
  });
});

describe("rules of the source that no linter knows", () => {
  it("J5 only the ledger's sweep deletes objects", () => {
    const sources = globSync("{app,aws,services,worker}/**/*.ts", {
      cwd: root,
      exclude: (name) => name === "node_modules",
    });
    const deleting = sources.filter(
      (file) =>
        !/\.test\.ts$|\/testing\/|^aws\//.test(file) && /\b[sS]tore\.remove(Prefix)?\(/.test(read(file)),
    );
    expect(deleting).toEqual(["services/clean-storage.ts"]);
  });
});

describe("requirements", () => {
  const rows = rowsOf(section(architecture, "## Requirements")).map(([id, , state]) => ({
    id: id!,
    state: state!,
  }));
  const titles = testFiles
    .flatMap((file) => namesIn(file, /\b(?:it|test|describe)\b[^"`]*?["`]([^"`]+)["`]/g))
    .join("\n");

  it("every requirement has one row, whose state is done, partly or later", () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(rows.filter(({ state }) => !/^(done|(partly|later): .+)$/.test(state))).toEqual([]);
  });

  it("every requirement that is called done has a test whose title names it", () => {
    const unproved = rows.filter(
      ({ id, state }) => state === "done" && !new RegExp(`\\b${id}\\b`).test(titles),
    );
    expect(unproved.map(({ id }) => id)).toEqual([]);
  });

  const wanted = path.join(root, "..", "shared", "REQUIREMENTS.md");
  it.skipIf(!existsSync(wanted))("the table has all that are wanted, in their order", () => {
    const ids = [...readFileSync(wanted, "utf8").matchAll(/^- ([A-Z]\d+) /gm)].map(([, id]) => id);
    expect(rows.map(({ id }) => id)).toEqual(ids);
  });
});
