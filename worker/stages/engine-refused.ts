/** The card failed at a plan, whatever for; the processor makes the same from it, or tells what is wrong with the file. */
export class EngineRefused extends Error {
  override readonly name = "EngineRefused";

  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}
