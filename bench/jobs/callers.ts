/** Makes `calls` calls, numbered from 0, by `callers` callers who each make the next one once theirs is answered. */
export async function inParallel(
  callers: number,
  calls: number,
  call: (n: number, caller: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (next < calls) await call(next++, caller);
    }),
  );
}
