/** What went wrong and what to do about it, in words for whoever typed the command. */
export class SetupError extends Error {}

/** Tells the person at the terminal; stdout belongs to the task. */
export function say(message) {
  console.error(message);
}
