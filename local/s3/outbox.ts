import { randomUUID } from "node:crypto";
import type { EventRecords } from "./event-records.ts";
import type { ObjectRecord } from "./object-records.ts";

/** Which request made an object. https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html */
export type CreationReason = "PutObject" | "POST Object" | "CopyObject" | "CompleteMultipartUpload";

export interface EventTarget {
  /** Gets each event by POST, at least once, until it answers with 2xx. */
  readonly url: string;
  /** Only objects whose keys begin with it are told of. */
  readonly keyPrefix: string;
}

/** Tells a target of new objects. Each event is stored in the transaction that makes its object visible. */
export interface Outbox {
  /** Only within the object's own transaction. */
  add(object: ObjectRecord, reason: CreationReason, requestId: string, now: Date): void;
  /** Delivers what is due, now. */
  nudge(): void;
  /** Stops delivering; what isn't delivered stays for the next start. */
  close(): Promise<void>;
}

/** What listens may be slow, and one event that it can't take must not hold up the others. */
const inFlightMax = 8;
const answerSecondsMax = 60;
const retrySecondsMin = 0.25;
const retrySecondsMax = 60;

export function createOutbox(records: EventRecords, region: string, target: EventTarget | undefined): Outbox {
  if (!target) return { add: () => {}, nudge: () => {}, close: async () => {} };
  const { url, keyPrefix } = target;
  const closing = new AbortController();
  const inFlight = new Map<number, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  const send = async (body: string): Promise<boolean> => {
    try {
      const answer = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        redirect: "error",
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(answerSecondsMax * 1000)]),
      });
      await answer.body?.cancel();
      return answer.ok;
    } catch {
      return false;
    }
  };

  const deliver = async (id: number, body: string, attempts: number): Promise<void> => {
    const delivered = await send(body);
    if (closing.signal.aborted && !delivered) return;
    const waitSeconds = Math.min(retrySecondsMax, retrySecondsMin * 2 ** attempts);
    if (delivered) records.remove(id);
    else records.postpone(id, new Date(Date.now() + waitSeconds * 1000));
  };

  const pump = () => {
    clearTimeout(timer);
    if (closing.signal.aborted) return;
    const now = new Date();
    for (const { id, body, attempts } of records.due(now, inFlightMax)) {
      if (inFlight.size >= inFlightMax) return;
      if (inFlight.has(id)) continue;
      const ended = () => {
        inFlight.delete(id);
        pump();
      };
      inFlight.set(id, deliver(id, body, attempts).then(ended, ended));
    }
    const next = records.nextDueAt(now);
    if (next) timer = setTimeout(pump, Math.max(0, next.getTime() - Date.now())).unref();
  };

  return {
    add(object, reason, requestId, now) {
      if (!object.key.startsWith(keyPrefix)) return;
      records.add(JSON.stringify(createdEvent(object, { reason, requestId, region, now })), now);
    },
    nudge: pump,
    async close() {
      closing.abort();
      clearTimeout(timer);
      await Promise.all(inFlight.values());
    },
  };
}

/** An event in the form that EventBridge passes on. */
function createdEvent(
  { bucket, key, sizeBytes, etag, id }: ObjectRecord,
  about: { reason: CreationReason; requestId: string; region: string; now: Date },
) {
  return {
    version: "0",
    id: randomUUID(),
    "detail-type": "Object Created",
    source: "aws.s3",
    account: "000000000000",
    time: `${about.now.toISOString().slice(0, 19)}Z`,
    region: about.region,
    resources: [`arn:aws:s3:::${bucket}`],
    detail: {
      version: "0",
      bucket: { name: bucket },
      object: { key, size: sizeBytes, etag, sequencer: id.toString(16).toUpperCase().padStart(18, "0") },
      "request-id": about.requestId,
      requester: "000000000000",
      reason: about.reason,
    },
  };
}
