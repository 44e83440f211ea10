import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { SetupError, say } from "./say.mjs";

/** FFmpeg and ffprobe, 5.1 or newer, with libx264, and what confines them. Installed where that needs no question. */
export function requireFfmpeg() {
  offerBubblewrap();
  let problem = ffmpegProblem();
  if (!problem) return;
  if (!process.env.FFMPEG_PATH && !process.env.FFPROBE_PATH && install("ffmpeg")) problem = ffmpegProblem();
  if (!problem) return;
  throw new SetupError(
    `${problem}\nInstall FFmpeg 5.1 or newer with libx264 (Debian, Ubuntu: sudo apt-get install ffmpeg; ` +
      "macOS: brew install ffmpeg), or set FFMPEG_PATH and FFPROBE_PATH to one that you have.",
  );
}

/**
 * Bubblewrap, which keeps FFmpeg to its own files on Linux. Asked for once for each installation of packages: without
 * it there are lesser cages, and the worker says so.
 */
function offerBubblewrap() {
  if (process.platform !== "linux" || has("bwrap") || existsSync(refusedMark)) return;
  if (!install("bubblewrap")) writeFileSync(refusedMark, "");
}

const refusedMark = fileURLToPath(new URL("../../node_modules/.no-bubblewrap", import.meta.url));

function ffmpegProblem() {
  const ffmpeg = process.env.FFMPEG_PATH || "ffmpeg";
  const ffprobe = process.env.FFPROBE_PATH || "ffprobe";
  const about = versionOf(ffmpeg, ["-version"]);
  if (about === undefined) return `FFmpeg (${ffmpeg}) was not found.`;
  // Builds from the development branch carry a commit instead of a number: "N-118193-g…".
  const [, major, minor] = /^ffmpeg version (?:\d+:)?n?(\d+)\.(\d+)/.exec(about) ?? [];
  if (major !== undefined && (Number(major) < 5 || (Number(major) === 5 && Number(minor) < 1)))
    return `FFmpeg (${ffmpeg}) is version ${major}.${minor}; 5.1 is the oldest that works.`;
  if (!about.includes("--enable-libx264")) return `FFmpeg (${ffmpeg}) was built without libx264.`;
  if (versionOf(ffprobe, ["-version"]) === undefined) return `ffprobe (${ffprobe}) was not found.`;
  return undefined;
}

/** A Chromium that plays H.264, for the browser tests: Playwright's own build doesn't. */
export function requireBrowser() {
  if (findBrowser()) return;
  if (!process.env.CHROMIUM_PATH && install("chromium") && findBrowser()) return;
  throw new SetupError(
    "The browser tests need a Chromium with H.264. Install it (Debian: sudo apt-get install chromium) " +
      "or Google Chrome, and set CHROMIUM_PATH to its program if it isn't found then.",
  );
}

/** Sets CHROMIUM_PATH, which is what the tests read. */
function findBrowser() {
  const places = process.env.CHROMIUM_PATH
    ? [process.env.CHROMIUM_PATH]
    : [
        "chromium",
        "/usr/bin/chromium",
        "google-chrome",
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        "/Applications/Chromium.app/Contents/MacOS/Chromium",
      ];
  // Ubuntu's "chromium" may be a script that only asks for a snap, so each has to answer.
  const found = places.find((place) =>
    /^(Chromium|Google Chrome) \d/m.test(versionOf(place, ["--version"]) ?? ""),
  );
  if (found?.includes("/")) process.env.CHROMIUM_PATH = found;
  else if (found) process.env.CHROMIUM_PATH = fullPath(found);
  return found !== undefined;
}

const fullPath = (program) =>
  spawnSync("/bin/sh", ["-c", 'command -v "$1"', "sh", program], { encoding: "utf8" }).stdout.trim();

function versionOf(program, args) {
  const { status, stdout } = spawnSync(program, args, { encoding: "utf8", timeout: 30_000 });
  return status === 0 ? stdout : undefined;
}

/** Installs a system package where no password is asked for; answers whether that went well. */
function install(name) {
  if (process.platform === "darwin") {
    if (name !== "ffmpeg" || !has("brew")) return false;
    say(`Installing ${name} with Homebrew …`);
    return succeeds("brew", ["install", name]);
  }
  if (!has("apt-get")) return false;
  const isRoot = process.getuid?.() === 0;
  if (!isRoot && !succeeds("sudo", ["-n", "true"], "ignore")) return false;
  say(`Installing ${name} with apt-get. This takes a minute and happens once …`);
  const apt = (...args) => {
    const command = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-y", ...args];
    return isRoot ? succeeds(command[0], command.slice(1)) : succeeds("sudo", ["-n", ...command]);
  };
  const installIt = () => apt("install", "--no-install-recommends", name);
  // The list of packages may be missing, or too old to name files that still exist.
  return installIt() || (apt("update") && installIt());
}

const has = (program) => fullPath(program) !== "";

/** Runs a program with its output on stderr. */
const succeeds = (program, args, output = 2) =>
  spawnSync(program, args, { stdio: ["ignore", output, output] }).status === 0;
