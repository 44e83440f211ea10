const lockName = (actionKey: string) => `reelkeep-upload ${actionKey}`;

/** Marks an upload as this tab's own until the returned function is called or the tab is gone. */
export function holdUpload(actionKey: string): () => void {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  // Where the browser has no locks, two tabs may both offer to go on with an upload; the server keeps it one.
  void navigator.locks?.request(lockName(actionKey), { ifAvailable: true }, () => released);
  return release;
}

/** The names among `actionKeys` whose upload runs in another tab. */
export async function heldElsewhere(actionKeys: readonly string[]): Promise<ReadonlySet<string>> {
  const locks = await navigator.locks?.query();
  const held = new Set(locks?.held?.map(({ name }) => name));
  return new Set(actionKeys.filter((actionKey) => held.has(lockName(actionKey))));
}
