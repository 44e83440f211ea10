import type { Mutation } from "./mutation.ts";

/**
 * Bugs that were seen to be caught. `npm run test:mutations` puts each into a copy of the code and demands that its
 * test fails; `list.test.ts` keeps the texts and titles true. Whoever writes a guarantee adds the bug that breaks it.
 */
export const mutations: readonly Mutation[] = [
  {
    bug: "Drop the lease guard from every move that needs one",
    file: "db/job-moves.ts",
    from: "return and(eq(jobs.beingProcessedBy, held.attemptId!), gt(jobs.leaseExpiryTime, now));",
    to: "return undefined;",
    caughtBy: { file: "services/jobs.test.ts", title: "P1 %s refuses publication and changes nothing" },
  },
  {
    bug: "Let the holder of a lease that ran out go on",
    file: "db/job-moves.ts",
    from: "return and(eq(jobs.beingProcessedBy, held.attemptId!), gt(jobs.leaseExpiryTime, now));",
    to: "return eq(jobs.beingProcessedBy, held.attemptId!);",
    caughtBy: { file: "db/jobs.test.ts", title: "J2 $state + $move ($lease lease) $verdict" },
  },
  {
    bug: "Recover leases that still hold",
    file: "db/job-moves.ts",
    from: "return lte(jobs.leaseExpiryTime, now);",
    to: "return undefined;",
    caughtBy: { file: "db/jobs.test.ts", title: "J2 $state + $move ($lease lease) $verdict" },
  },
  {
    bug: "Skip the generation check in a claim",
    file: "db/job-moves.ts",
    from: "    eq(jobs.generation, claim.generation),\n",
    to: "",
    caughtBy: {
      file: "services/manage-jobs.test.ts",
      title: "J11 a worker of the old generation can't claim",
    },
  },
  {
    bug: "Skip the generation check in a publication",
    file: "services/publish-version.ts",
    from: "if (!job || job.generation !== attempt.generation)",
    to: "if (!job)",
    caughtBy: { file: "services/jobs.test.ts", title: "P1 %s refuses publication and changes nothing" },
  },
  {
    bug: "Skip the generation check of a retry, so that two clicks are two",
    file: "services/retry-job.ts",
    from: "    if (current.generation > generation) return;\n",
    to: "",
    caughtBy: { file: "services/manage-jobs.test.ts", title: "J11 two clicks at once" },
  },
  {
    bug: "Claim a job whose cancellation was requested",
    file: "db/job-moves.ts",
    from: "    isNull(jobs.cancelRequestedAt),\n    notExists(",
    to: "    notExists(",
    caughtBy: { file: "services/jobs.test.ts", title: "J10 a waiting job whose cancellation was requested" },
  },
  {
    bug: "Publish what was to be cancelled",
    file: "services/publish-version.ts",
    from: '    if (job.beingProcessedBy === lease.attemptId && job.cancelRequestedAt) return { outcome: "cancelled" };\n',
    to: "",
    caughtBy: { file: "services/manage-jobs.test.ts", title: "J10 a job that is worked on is told" },
  },
  {
    bug: "Publish an older revision after a newer one",
    file: "services/publish-version.ts",
    from: '    if (await isSuperseded(tx, asset.id, job.sourceRevision)) return { outcome: "superseded" };\n',
    to: "",
    caughtBy: { file: "services/jobs.test.ts", title: "P1 %s refuses publication and changes nothing" },
  },
  {
    bug: "Take a lost answer to a publication for a second one",
    file: "services/publish-version.ts",
    from: '    if (published) return { outcome: "published", version: published };\n',
    to: "",
    caughtBy: { file: "services/jobs.test.ts", title: "J2 P1 publishing again from the same attempt" },
  },
  {
    bug: "Forget the intent when a job is to be tried again",
    file: "services/fail-attempt.ts",
    from: "    await announce(tx, job, waiting ? backoffSeconds : 0);\n",
    to: "",
    caughtBy: { file: "services/jobs.test.ts", title: "J5 a failure worth another try backs off" },
  },
  {
    bug: "Forget to enter an ended attempt's output for deletion",
    file: "services/fail-attempt.ts",
    from: "  if (!(await endAttempt(tx, move, attempt.id, facts))) return;\n",
    to: "  await endAttempt(tx, move, attempt.id, facts);\n  return;\n",
    caughtBy: { file: "services/jobs.test.ts", title: "J5 the ledger removes an attempt's output" },
  },
  {
    bug: "Delete what a version needs",
    file: "services/clean-storage.ts",
    from: "if (await isStillNeeded(db, entry)) {",
    to: "if (false as boolean) {",
    caughtBy: { file: "services/jobs.test.ts", title: "J5 the ledger removes an attempt's output" },
  },
  {
    bug: "Launch while another launch is under way",
    file: "db/job-launches.ts",
    from: "        isNull(jobs.provisioningToken),\n        or(isNull(jobs.retryAt)",
    to: "        or(isNull(jobs.retryAt)",
    caughtBy: { file: "db/jobs.test.ts", title: "J6 of two launches of one job, one begins" },
  },
  {
    bug: "Count only machines that work, not those that may still come or linger",
    file: "services/dispatch-outbox.ts",
    from: "return (await countOpenLaunches(tx)) >= workersMax",
    to: "return 0 >= workersMax",
    caughtBy: { file: "services/dispatch-outbox.test.ts", title: "J8 jobs above the ceiling wait" },
  },
  {
    bug: "Free an orphan's place before its machine is gone",
    file: "services/reap-machines.ts",
    from: "      return machine ? settlePresent(needs, entry, machine) : settleAbsent(needs, entry, options);",
    to: "      return machine && entry.isWanted\n        ? settlePresent(needs, entry, machine)\n        : settleAbsent(needs, entry, options);",
    caughtBy: { file: "services/dispatch-outbox.test.ts", title: "J8 an orphan takes its place" },
  },
  {
    bug: "Let missing capacity use up attempts",
    file: "services/dispatch-outbox.ts",
    from: 'const passing = refusal.reason !== "invalid";',
    to: "const passing = false as boolean;",
    caughtBy: { file: "services/dispatch-outbox.test.ts", title: "J7 missing capacity and throttling" },
  },
  {
    bug: "Take a launch without an answer for refused",
    file: "services/dispatch-outbox.ts",
    from: '.catch((error: unknown) => ({ outcome: "unknown" as const, error: toAppError(error, "launch-failed") }));',
    to: '.catch((error: unknown) => ({ outcome: "refused" as const, reason: "no-capacity" as const, message: String(error) }));',
    caughtBy: { file: "services/dispatch-outbox.test.ts", title: "J7 no answer isn't a refusal" },
  },
  {
    bug: "End a machine without asking again whether it works",
    file: "services/reap-machines.ts",
    from: '  if (now?.isWanted) return "kept";\n',
    to: "  void now;\n",
    caughtBy: {
      file: "services/reap-machines.test.ts",
      title: "J6 a worker that claims between the look and the end keeps its machine",
    },
  },
  {
    bug: "Repeat a launch without ending the machine whose answer was lost",
    file: "services/recover-jobs.ts",
    from: "      await fleet.terminate(machine.machineId);\n",
    to: "      void machine;\n",
    caughtBy: { file: "services/recover-jobs.test.ts", title: "J6 J7 a launch whose answer was lost" },
  },
  {
    bug: "Ignore the day's budget",
    file: "services/dispatch-outbox.ts",
    from: "if (dailyBudgetUsd !== null && (await sumSpentToday(tx)) >= dailyBudgetUsd)",
    to: "if (dailyBudgetUsd === -1)",
    caughtBy: { file: "services/dispatch-outbox.test.ts", title: "J8 once the day's budget is spent" },
  },
  {
    bug: "Admit once for each event",
    file: "services/admit-upload.ts",
    from: "    if (!(await admit(tx, upload.actionKey, { etag, sourceRevision }))) return;\n",
    to: "    await admit(tx, upload.actionKey, { etag, sourceRevision });\n",
    caughtBy: {
      file: "services/upload.test.ts",
      title: "U5 complete and the event, a hundred times at once",
    },
  },
  {
    bug: "Send heartbeats from the main thread",
    file: "worker/lease.ts",
    from: `  const thread = new Worker(script, {
    workerData: { ...data, board: board.buffer } satisfies LeaseThreadData,
  });
`,
    to: `  void script;
  const beating = async () => {
    const { openDatabase } = await import("@reelkeep/db/client");
    const { heartbeat } = await import("@reelkeep/services/heartbeat");
    const { db } = openDatabase(data.databaseUrl, { connectionsMax: 1 });
    const { actionKey, attemptId, policy, progress } = data;
    setInterval(async () => {
      const askedAt = monotonicMs();
      await heartbeat({ db, jobPolicy: policy }, { actionKey, attemptId, progress }).catch(() => {});
      board.allowUntil(stopsAtMs(askedAt, policy));
    }, policy.heartbeatSeconds * 1000);
  };
  void beating();
  const thread = { once() {}, on() {}, postMessage() {}, terminate: async () => 0 } as unknown as Worker;
`,
    caughtBy: {
      file: "worker/watchdog.test.ts",
      title: "J12 J3 for longer than its lease, and less than a stall, keeps the job and finishes it",
    },
  },
  {
    bug: "Watch for no stall",
    file: "worker/stall-watch.ts",
    from: "        onStalled();\n",
    to: "        void onStalled;\n",
    caughtBy: {
      file: "worker/watchdog.test.ts",
      title: "J12 because FFmpeg hangs ends the attempt as stalled",
    },
  },
  {
    bug: "Let main trust the lease thread's clock alone",
    file: "worker/lease.ts",
    from: "  look();\n  return {",
    to: "  void look;\n  return {",
    caughtBy: { file: "worker/watchdog.test.ts", title: "J3 for ever lets main stop, and end FFmpeg" },
  },
  {
    bug: "Leave a process alone whose main thread is blocked for ever",
    file: "worker/lease-thread.ts",
    from: 'process.kill(process.pid, "SIGKILL");\n',
    to: "",
    caughtBy: { file: "worker/watchdog.test.ts", title: "J12 for ever is ended with its whole process" },
  },
  {
    bug: "Leave without ending the machine",
    file: "worker/main.ts",
    from: "    await Promise.race([machine.end(), sleep(endMachineMs)]);\n",
    to: "    void sleep(0);\n",
    caughtBy: { file: "worker/watchdog.test.ts", title: "J4 ends it after the job" },
  },
  {
    bug: "Read whatever lies there now, not what was admitted",
    file: "aws/object-store.ts",
    from: "new GetObjectCommand({ ...at(key), IfMatch:",
    to: "new GetObjectCommand({ ...at(key), IfMatch: undefined &&",
    caughtBy: {
      file: "worker/run-job.test.ts",
      title: "U5 a source that was overwritten after admission ends the job as source-changed",
    },
  },
  {
    bug: "Let a connection that breaks inside a transaction end the process",
    file: "db/client.ts",
    from: '    client.on("error", () => {});\n',
    to: "",
    caughtBy: { file: "db/client.test.ts", title: "J2 a connection that breaks inside a transaction" },
  },
  {
    bug: "Take an unknown answer of EC2 for missing capacity, and ask for the next candidate",
    file: "aws/ec2-refusals.ts",
    from: 'const unknown = { kind: "unknown" } as const;',
    to: 'const unknown = { kind: "no-capacity", next: "candidate" } as const;',
    caughtBy: {
      file: "aws/ec2-fleet-faults.test.ts",
      title: "J6 however EC2 fails, one provisioning token gives one machine",
    },
  },
  {
    bug: "Pay for a deleted video: keep its jobs going",
    file: "services/set-asset-state.ts",
    from: "    if (cause) await settleSuperseded(tx, await supersedeJobs(tx, { assetId }, cause));\n",
    to: "    void settleSuperseded;\n    void supersedeJobs;\n",
    caughtBy: { file: "services/manage-jobs.test.ts", title: "J10 deleting an asset cancels its jobs" },
  },
  {
    bug: "Wait for the lease although a worker died before its claim",
    file: "services/reap-machines.ts",
    from: 'return isAwaited && (await repeatLaunch(needs, launch)) ? "relaunched" : "gone";',
    to: 'return isAwaited && launch.machineId === "" ? "relaunched" : "gone";',
    caughtBy: { file: "services/reap-machines.test.ts", title: "J6 a machine that died before its claim" },
  },
  {
    bug: "Let a second worker claim a job that is held",
    file: "core/job/machine.ts",
    from: 'claim: {\n      from: ["file-processing-ready"],',
    to: 'claim: {\n      from: ["file-processing-ready", "job-received"],',
    caughtBy: { file: "e2e/faults/launches.test.ts", title: "J1 J2 of " },
  },
  {
    bug: "Let two dispatchers begin a launch of one job",
    file: "db/job-launches.ts",
    from: "        isNull(jobs.provisioningToken),\n        or(isNull",
    to: "        or(isNull",
    caughtBy: { file: "e2e/faults/launches.test.ts", title: "J7 two dispatchers at once" },
  },
  {
    bug: "Let a sweep end a launch that another has repeated",
    file: "db/job-launches.ts",
    from: "        eq(jobs.provisioningToken, launch.provisioningToken),\n",
    to: "",
    caughtBy: {
      file: "e2e/faults/launches.test.ts",
      title: "J6 two sweeps at once repeat a launch that nobody claimed once",
    },
  },
  {
    bug: "Count throttling as a try",
    file: "services/dispatch-outbox.ts",
    from: "countsAsTry: !passing,",
    to: "countsAsTry: true,",
    caughtBy: { file: "e2e/faults/launches.test.ts", title: "J7 a launch that is refused as" },
  },
  {
    bug: "Launch one machine more than the ceiling",
    file: "services/dispatch-outbox.ts",
    from: ">= workersMax ?",
    to: "> workersMax ?",
    caughtBy: { file: "e2e/faults/launches.test.ts", title: "J8 a burst of twelve" },
  },
  {
    bug: "Forget a worker that was started for nothing",
    file: "services/claim-job.ts",
    from: 'if (outcome === "missing") await insertProvisioningError(tx, { ...request, errorCode: "job-missing" });',
    to: "",
    caughtBy: {
      file: "e2e/faults/launches.test.ts",
      title: "J1 a worker that is started for a job that doesn't exist",
    },
  },
  {
    bug: "Take local workers for free",
    file: "local/control-plane.ts",
    from: "    usdPerHour: settings.WORKER_USD_PER_HOUR,\n",
    to: "",
    caughtBy: { file: "e2e/faults/launches.test.ts", title: "J8 a video beyond the day's budget" },
  },
  {
    bug: "Note a deletion before it is made",
    file: "db/deletion-ledger.ts",
    from: ".set({ dueAt: secondsFromNow(holdSeconds) })",
    to: ".set({ dueAt: secondsFromNow(holdSeconds), deletedAt: now })",
    caughtBy: {
      file: "e2e/faults/ledger.test.ts",
      title: "J5 a deletion sweep that is killed before storage hears",
    },
  },
  {
    bug: "Look once where an orphan may still write",
    file: "db/deletion-ledger.ts",
    from: "{ deletedAt: now, dueAt: secondsFromNow(secondLookSeconds), lastError: null }",
    to: "{ deletedAt: now, confirmedAt: now, lastError: null }",
    caughtBy: { file: "e2e/faults/ledger.test.ts", title: "J5 what an orphan writes after the first look" },
  },
  {
    bug: "Delete a published version that was entered",
    file: "db/deletion-ledger.ts",
    from: 'and(ne(assets.state, "deleted"), below(mediaVersions.prefix))',
    to: "sql`false`",
    caughtBy: { file: "e2e/faults/ledger.test.ts", title: "J5 P1 a published version that is entered" },
  },
  {
    bug: "Delete what a running attempt writes",
    file: "db/deletion-ledger.ts",
    from: 'and(eq(jobAttempts.state, "running"), below(jobAttempts.outputPrefix))',
    to: "sql`false`",
    caughtBy: { file: "e2e/faults/ledger.test.ts", title: "J5 what a running attempt has stored" },
  },
  {
    bug: "Reject a file because storage couldn't be read",
    file: "services/check-object.ts",
    from: " || error.retryable;",
    to: ";",
    caughtBy: {
      file: "e2e/faults/storage-fails.test.ts",
      title: "rejects nothing: the upload stays open",
    },
  },
  {
    bug: "Let a short failure of storage end a verification",
    file: "worker/stages/verify.ts",
    from: "await withRetries(() => store.list(signal), signal)",
    to: "await store.list(signal)",
    caughtBy: {
      file: "e2e/faults/storage-fails.test.ts",
      title: "is asked again, and the version is whole",
    },
  },
  {
    bug: "Publish a segment that was changed in storage",
    file: "worker/stages/verify.ts",
    from: "else if (object.etag !== segment.etag) problems",
    to: "else if (false as boolean) problems",
    caughtBy: {
      file: "e2e/faults/storage-fails.test.ts",
      title: "is never published: the attempt fails as verification-failed",
    },
  },
  {
    bug: "Take a missing playlist for a missing source",
    file: "worker/bucket-output.ts",
    from: 'if (!(error instanceof AppError && error.code === "source-gone")) throw error;',
    to: "throw error;",
    caughtBy: {
      file: "e2e/faults/storage-fails.test.ts",
      title: "is never published: the attempt fails as verification-failed",
    },
  },
  {
    bug: "Tell a full disk as a failure of storage",
    file: "aws/storage-errors.ts",
    from: '["ENOSPC", "EDQUOT"]',
    to: "[]",
    caughtBy: {
      file: "e2e/faults/storage-fails.test.ts",
      title: "M9 a disk that fills up in the middle of a download",
    },
  },
  {
    bug: "Tell a full disk as a failure of the encoder",
    file: "worker/stages/encode-pass.ts",
    from: 'return bavail * bsize < fullBytes ? new AppError("disk-full", { cause: error }) : error;',
    to: "return bavail < 0 ? bsize : error;",
    caughtBy: {
      file: "e2e/faults/storage-fails.test.ts",
      title: "M9 a disk that fills up in the middle of an encode",
    },
  },
  {
    bug: "Work on for a blocked video",
    file: "services/set-asset-state.ts",
    from: '  block: "asset-blocked",\n',
    to: "  block: null,\n",
    caughtBy: {
      file: "services/manage-jobs.test.ts",
      title: "P1 J10 an admin blocks an asset while it is processed",
    },
  },
  {
    bug: "Let two files of one video be on their way after two retries",
    file: "services/retry-job.ts",
    from: '    await settleSuperseded(tx, await supersedeJobs(tx, older, "superseded"));\n',
    to: "    if (!older) await settleSuperseded(tx, []);\n",
    caughtBy: {
      file: "services/manage-jobs.test.ts",
      title: "J11 a newer file that is tried again takes the place of an older one",
    },
  },
  {
    bug: "Sign on for a blocked video",
    file: "services/sign-upload-request.ts",
    from: '?.state === "blocked")',
    to: '?.state === "deleted")',
    caughtBy: { file: "services/upload.test.ts", title: "U2 nothing is signed for a blocked video" },
  },
  {
    bug: "Let uploads of a deleted video go on",
    file: "services/set-asset-state.ts",
    from: "    await expireUploadsOf(tx, assetId, {",
    to: "    await expireUploadsOf(tx, actor.userId, {",
    caughtBy: { file: "services/upload.test.ts", title: "U2 nothing is signed for a blocked video" },
  },
  {
    bug: "Count a deleted video against the quota for ever",
    file: "db/uploads.ts",
    from: "awaits: isNull(deletionLedger.deletedAt)",
    to: "awaits: isNull(deletionLedger.confirmedAt)",
    caughtBy: { file: "services/upload.test.ts", title: "U1 a deleted video counts against the quota until" },
  },
  {
    bug: "Give a deleted video's room back while storage still has it",
    file: "db/uploads.ts",
    from: "eq(deletionLedger.target, uploads.key)",
    to: "eq(deletionLedger.target, uploads.filename)",
    caughtBy: { file: "services/upload.test.ts", title: "U1 a deleted video counts against the quota until" },
  },
  {
    bug: "Let one person leave any number of uploads unfinished",
    file: "services/authorize-upload.ts",
    from: "open >= uploadLimits.openUploadsMax",
    to: "open < 0",
    caughtBy: {
      file: "services/upload.test.ts",
      title: "U1 a person has so many unfinished uploads and no more",
    },
  },
  {
    bug: "Show a blocked video's title to whoever has an old invitation",
    file: "services/invite-people.ts",
    from: '(assetState ?? "active") === "active"',
    to: 'assetState !== "deleted"',
    caughtBy: {
      file: "services/people.test.ts",
      title: "X4 P1 while a video is blocked its invitations show nothing",
    },
  },
  {
    bug: "Show admins the titles of deleted videos",
    file: "db/media-status.ts",
    from: '        ne(assets.state, "deleted"),\n',
    to: "",
    caughtBy: { file: "services/manage-jobs.test.ts", title: "X2 the failed ones come latest end first" },
  },
  {
    bug: "Let a decoder read the worker's credentials",
    file: "worker/ffmpeg/cage.ts",
    from: '["unshare", "--user", "--net", "setpriv", "--no-new-privs", ...leash]',
    to: '["unshare", "--net", ...leash]',
    caughtBy: {
      file: "worker/ffmpeg/cage.test.ts",
      title: "M1 it can read neither our environment nor our memory",
    },
  },
  {
    bug: "Let a decoder read every file of the worker's user",
    file: "worker/ffmpeg/cage.ts",
    from: '    ...["--remount-ro", "/"],\n',
    to: '    ...["--ro-bind", "/", "/"],\n',
    caughtBy: {
      file: "worker/ffmpeg/cage.test.ts",
      title: "M1 it sees the files of its call alone",
    },
  },
  {
    bug: "Decode on EC2 without a cage",
    file: "worker/main.ts",
    from: '  if (machineKind === "ec2" && !cage.isOffline)\n',
    to: '  if (machineKind === "ec2" && !cage.isOffline && leaving.signal.aborted)\n',
    caughtBy: {
      file: "worker/watchdog.test.ts",
      title: "M1 J4 touches no job where FFmpeg can't be kept from the network",
    },
  },
  {
    bug: "Leave a machine running whose boot script broke",
    file: "aws/user-data.ts",
    from: "trap 'shutdown -h now' EXIT\n",
    to: "",
    caughtBy: { file: "aws/user-data.test.ts", title: "J4 the machine shuts down when its boot script %s" },
  },
  {
    bug: "Hand the database's password to whoever describes a machine",
    file: "aws/user-data.ts",
    from: "addressWithPassword.test(value)",
    to: "addressWithPassword.test(name)",
    caughtBy: { file: "aws/user-data.test.ts", title: "J9 a secret is refused" },
  },
  {
    bug: "Forget a job whose launch outlasted its dispatcher's lock and was refused",
    file: "services/dispatch-outbox.ts",
    from: 'if (job?.state !== "file-processing-ready" || job.generation !== message.generation)',
    to: 'if (job?.state !== "file-processing-ready" || job.provisioningToken)',
    caughtBy: {
      file: "services/dispatch-outbox.test.ts",
      title: "J7 a launch that takes longer than a dispatcher's lock, and is refused then, is made again",
    },
  },
  {
    bug: "Write a cancellation into the audit log although it changed nothing",
    file: "services/cancel-job.ts",
    from: "if (!(await requestCancel(tx, actionKey, actorId))) return;",
    to: "await requestCancel(tx, actionKey, actorId);",
    caughtBy: { file: "services/audit-log.test.ts", title: "X2 J10 cancelling a job in %s is told once" },
  },
  {
    bug: "Lock a job before its video when it is cancelled",
    file: "services/cancel-job.ts",
    from: "    await lockAsset(tx, assetId);\n",
    to: "    void lockAsset;\n",
    caughtBy: {
      file: "services/audit-log.test.ts",
      title: "X2 J10 a cancellation and a block at once wait for each other",
    },
  },
];
