import { z } from "zod";
import { S3Error } from "./errors.ts";
import type { Store } from "./store.ts";
import { parseXml } from "./xml.ts";

const days = z.string().regex(/^[1-9]\d{0,4}$/);

const schema = z.object({
  Rule: z
    .array(
      z.object({
        Status: z.enum(["Enabled", "Disabled"]),
        Prefix: z.string().optional(),
        Filter: z.union([z.string(), z.object({ Prefix: z.string().optional() })]).optional(),
        Expiration: z.unknown().optional(),
        Transition: z.unknown().optional(),
        AbortIncompleteMultipartUpload: z.object({ DaysAfterInitiation: days }).optional(),
      }),
    )
    .min(1),
});

/**
 * The one kind of rule that is carried out here: multipart uploads are aborted after so many days.
 *
 * @throws S3Error `MalformedXML`; `NotImplemented` for rules of another kind, so that nobody relies on one.
 */
export function parseLifecycle(xml: string): { prefix: string; abortAfterDays: number }[] {
  return parseXml(xml, "LifecycleConfiguration", schema).Rule.flatMap((rule) => {
    if (rule.Expiration !== undefined || rule.Transition !== undefined)
      throw new S3Error("NotImplemented", "Only AbortIncompleteMultipartUpload is carried out here.");
    const filter = typeof rule.Filter === "object" ? rule.Filter.Prefix : undefined;
    const abort = rule.AbortIncompleteMultipartUpload;
    return rule.Status === "Enabled" && abort
      ? [{ prefix: filter ?? rule.Prefix ?? "", abortAfterDays: Number(abort.DaysAfterInitiation) }]
      : [];
  });
}

const dayMilliseconds = 24 * 3600 * 1000;

/** Aborts what the buckets' rules say. */
export async function carryOutLifecycles(store: Store, now: Date): Promise<void> {
  for (const { name } of store.buckets.list()) {
    const xml = store.buckets.document(name, "lifecycle");
    if (xml === null) continue;
    for (const { prefix, abortAfterDays } of parseLifecycle(xml)) {
      const before = new Date(now.getTime() - abortAfterDays * dayMilliseconds);
      for (const { id, key } of store.uploads.startedBefore(name, before))
        if (key.startsWith(prefix)) await store.shelf.remove(store.transact(() => store.uploads.remove(id)));
    }
  }
}
