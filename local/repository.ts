import path from "node:path";

/** The clone's root. Holds for sources (`local/`) and for bundles (`dist/`): both lie directly below it. */
export const repositoryRoot = path.dirname(import.meta.dirname);
