/** Lists of assets as people see them. */
import type { AssetFilter } from "@reelkeep/core/api/assets";
import { and, desc, eq, ilike, isNull, ne, or, type SQL, sql } from "drizzle-orm";
import type { Executor } from "./client.ts";
import { versionFacts } from "./media-versions.ts";
import type { PageCursor } from "./page-cursor.ts";
import { assets } from "./schema/assets.ts";
import { invitations } from "./schema/invitations.ts";
import { jobs } from "./schema/jobs.ts";
import { mediaVersions } from "./schema/media-versions.ts";
import { uploads } from "./schema/uploads.ts";
import { users } from "./schema/users.ts";

/** Whose library: an admin sees all; others what they own and what they were let in to. */
export interface LibraryReader {
  readonly userId: string;
  readonly seesAll: boolean;
}

export type LibraryRow = Awaited<ReturnType<typeof selectRows>>[number];

const invitedTo = (userId: string) => sql<boolean>`exists (
  select 1 from ${invitations}
  where ${invitations.acceptedBy} = ${userId} and ${invitations.assetId} = ${assets.id} and ${isNull(invitations.revokedAt)}
)`;

/** The newest upload of each asset and its job. */
const latestUpload = sql`(
  select u.action_key from uploads u where u.asset_id = ${assets.id} order by u.created_at desc limit 1
)`;

const processing = or(
  eq(uploads.state, "url-created"),
  sql`${jobs.state} in ('file-processing-ready', 'job-received')`,
)!;
const needsYou = or(eq(uploads.state, "rejected"), eq(jobs.state, "failed"))!;
const filters: Record<AssetFilter, SQL | undefined> = { all: undefined, processing, "needs-you": needsYou };

const selectRows = (db: Executor, reader: LibraryReader) =>
  db
    .select({
      asset: assets,
      ownerName: users.name,
      invited: invitedTo(reader.userId),
      version: versionFacts,
      upload: uploads,
      job: jobs,
    })
    .from(assets)
    .innerJoin(users, eq(users.id, assets.ownerId))
    .leftJoin(mediaVersions, eq(mediaVersions.id, assets.activeVersionId))
    .leftJoin(uploads, eq(uploads.actionKey, latestUpload))
    .leftJoin(jobs, eq(jobs.actionKey, uploads.actionKey));

/** Guests see what plays; owners and admins all that isn't deleted. */
const visibleTo = (reader: LibraryReader): SQL =>
  and(
    ne(assets.state, "deleted"),
    reader.seesAll
      ? undefined
      : or(
          eq(assets.ownerId, reader.userId),
          and(
            invitedTo(reader.userId),
            eq(assets.state, "active"),
            sql`${assets.activeVersionId} is not null`,
          ),
        ),
  )!;

/** Part of the title or the description; `%` and `_` mean themselves. */
function matches(search: string): SQL {
  const pattern = `%${search.replace(/[\\%_]/g, "\\$&")}%`;
  return or(ilike(assets.title, pattern), ilike(assets.description, pattern))!;
}

/** One page of the library, newest first. */
export const listLibrary = (
  db: Executor,
  reader: LibraryReader,
  page: { filter: AssetFilter; search: string; cursor: PageCursor | null; limit: number },
): Promise<LibraryRow[]> =>
  selectRows(db, reader)
    .where(
      and(
        visibleTo(reader),
        filters[page.filter],
        page.search === "" ? undefined : matches(page.search),
        page.cursor
          ? sql`(${assets.createdAt}, ${assets.id}) < (${page.cursor.at.toISOString()}::timestamptz, ${page.cursor.id}::uuid)`
          : undefined,
      ),
    )
    .orderBy(desc(assets.createdAt), desc(assets.id))
    .limit(page.limit);

/** One asset as `reader` would see it in the library, whatever its state; the policy decides what follows. */
export async function findLibraryRow(
  db: Executor,
  reader: LibraryReader,
  assetId: string,
): Promise<LibraryRow | null> {
  const rows = await selectRows(db, reader).where(eq(assets.id, assetId));
  return rows[0] ?? null;
}

/** How many assets there are under each filter. */
export async function countLibrary(
  db: Executor,
  reader: LibraryReader,
): Promise<Record<AssetFilter, number>> {
  const rows = await db
    .select({
      all: sql<number>`count(*)::int`,
      processing: sql<number>`count(*) filter (where ${processing})::int`,
      "needs-you": sql<number>`count(*) filter (where ${needsYou})::int`,
    })
    .from(assets)
    .leftJoin(uploads, eq(uploads.actionKey, latestUpload))
    .leftJoin(jobs, eq(jobs.actionKey, uploads.actionKey))
    .where(visibleTo(reader));
  return rows[0]!;
}
