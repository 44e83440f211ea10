import { stat } from "node:fs/promises";

const lookMs = 1000;

/** Calls `onChange` while a file that is being written has another size than a second before, until disposed. */
export function watchSize(path: string, onChange: () => void): Disposable {
  let sizeSeen = 0;
  const timer = setInterval(async () => {
    const size = await stat(path).then(
      (found) => found.size,
      () => sizeSeen,
    );
    if (size !== sizeSeen) onChange();
    sizeSeen = size;
  }, lookMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
