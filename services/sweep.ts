/** An item that a sweep couldn't deal with; the next sweep meets it again. */
export interface SweepFailure {
  readonly actionKey: string;
  readonly error: unknown;
}

/**
 * Does the work for one item after another. One that fails doesn't keep the others from their turn: it is answered
 * as a failure, beside what was done for the others.
 */
export async function sweep<Item extends { readonly actionKey: string }, Done>(
  items: readonly Item[],
  work: (item: Item) => Promise<Done>,
): Promise<{ done: Done[]; failures: SweepFailure[] }> {
  const done: Done[] = [];
  const failures: SweepFailure[] = [];
  for (const item of items)
    try {
      done.push(await work(item));
    } catch (error) {
      failures.push({ actionKey: item.actionKey, error });
    }
  return { done, failures };
}
