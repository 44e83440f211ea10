import { z } from "zod";
import { S3Error } from "./errors.ts";
import type { Store } from "./store.ts";
import { parseXml } from "./xml.ts";

const days = z.string().regex(/^[1-9]\d{0,4}$/);

/** Loose, because other kinds of rules are told apart from what isn't a rule at all. */
const schema = z.object({
  Rule: z
    .array(
      z.looseObject({
        ID: z.string().max(255).optional(),
        Status: z.enum(["Enabled", "Disabled"]),
        Prefix: z.string().optional(),
        Filter: z.union([z.string(), z.looseObject({ Prefix: z.string().optional() })]).optional(),
        AbortIncompleteMultipartUpload: z.looseObject({ DaysAfterInitiation: days }).optional(),
      }),
    )
    .min(1)
    .max(1000),
});

/** By the path of an element below the rule, what may stand there. */
const known = {
  rule: new Set(["ID", "Status", "Prefix", "Filter", "AbortIncompleteMultipartUpload"]),
  filter: new Set(["Prefix"]),
  abort: new Set(["DaysAfterInitiation"]),
};

interface AbortRule {
  readonly prefix: string;
  readonly abortAfterDays: number;
}

/**
 * The one kind of rule that is carried out here: multipart uploads, of all keys or of those with a prefix, are aborted
 * after so many days. Disabled rules are left out.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpu-abort-incomplete-mpu-lifecycle-config.html
 *
 * @throws S3Error `MalformedXML`; `NotImplemented` for rules and filters of another kind, so that nobody relies on one.
 */
export function parseLifecycle(xml: string): AbortRule[] {
  return parseXml(xml, "LifecycleConfiguration", schema).Rule.flatMap((rule) => {
    const filter = typeof rule.Filter === "object" ? rule.Filter : {};
    const abort = rule.AbortIncompleteMultipartUpload;
    refuseOthers(rule, known.rule);
    refuseOthers(filter, known.filter);
    if (!abort) throw new S3Error("MalformedXML", "A rule needs an action.");
    refuseOthers(abort, known.abort);
    const prefix = filter.Prefix ?? rule.Prefix ?? "";
    return rule.Status === "Enabled" ? [{ prefix, abortAfterDays: Number(abort.DaysAfterInitiation) }] : [];
  });
}

function refuseOthers(element: object, names: ReadonlySet<string>): void {
  // White space between elements is text to the parser.
  const other = Object.keys(element).find((name) => !names.has(name) && name !== "#text");
  if (other === undefined) return;
  throw new S3Error(
    "NotImplemented",
    `Only AbortIncompleteMultipartUpload, by prefix, is carried out here; ${other} isn't.`,
  );
}

const dayMilliseconds = 24 * 3600 * 1000;

/** Aborts what the buckets' rules say is too old at `now`. (S3 itself waits for the next midnight.) */
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
