/** What always holds (ARCHITECTURE.md), asked of the rows themselves, whatever the code believes. */
import { sql } from "drizzle-orm";
import type { Executor } from "../client.ts";

/** Each query selects what breaks its sentence. */
const breaches: Record<string, string> = {
  "I1 a job has one running attempt at most, and a lease exactly while it is in job-received": `
    select j.action_key from jobs j
    left join job_attempts a on a.action_key = j.action_key and a.state = 'running'
    group by j.action_key
    having count(a.id) <> (j.state = 'job-received')::int
      or bool_or(a.id is distinct from j.being_processed_by)
      or (j.state = 'job-received') <> (j.lease_expiry_time is not null)`,
  "I1 no two attempts of a job overlap": `
    select a.action_key from job_attempts a join job_attempts b
      on b.action_key = a.action_key and b.attempt_number > a.attempt_number
      and (a.ended_at is null or a.ended_at > b.started_at)`,
  "I5 I7 a version is of an attempt that succeeded, of a completed job, below that attempt's prefix": `
    select v.id from media_versions v
    left join job_attempts a on a.id = v.attempt_id and a.output_prefix = v.prefix and a.state = 'succeeded'
    left join jobs j on j.action_key = a.action_key and j.state = 'processing-completed' and j.asset_id = v.asset_id
    where j.action_key is null`,
  "I6 a completed job has one version, of its own generation; an attempt that succeeded is its own": `
    select j.action_key from jobs j
    left join job_attempts a on a.action_key = j.action_key and a.state = 'succeeded'
    left join media_versions v on v.attempt_id = a.id
    group by j.action_key
    having count(v.id) <> (j.state = 'processing-completed')::int or count(a.id) <> count(v.id)
      or bool_or(a.generation <> j.generation)`,
  "I6 what plays is the newest version, and versions are numbered in the order of their revisions": `
    select s.id from assets s left join lateral (
      select v.id, v.version_number, v.source_revision from media_versions v where v.asset_id = s.id
      order by v.version_number desc limit 1) newest on true
    where newest.id is distinct from s.active_version_id
      or coalesce(newest.version_number, 0) <> s.version_count
      or newest.source_revision < (select max(v.source_revision) from media_versions v where v.asset_id = s.id)`,
  "I8 attempts are numbered 1 to attempt_count, which never exceeds the limit": `
    select j.action_key from jobs j left join job_attempts a on a.action_key = j.action_key
    group by j.action_key
    having count(a.id) <> j.attempt_count or coalesce(max(a.attempt_number), 0) <> j.attempt_count
      or j.attempt_count > j.attempt_limit`,
  "J5 the output of every attempt that ended without a version is in the deletion ledger": `
    select a.id from job_attempts a where a.state not in ('running', 'succeeded')
      and not exists (select 1 from deletion_ledger d where d.target = a.output_prefix)`,
  "I9 nothing of a video that isn't deleted leaves storage while it is needed": `
    select d.target from deletion_ledger d
    left join media_versions v on v.prefix = d.target
    left join job_attempts a on a.output_prefix = d.target and a.state = 'running'
    left join uploads u on u.key = d.target and u.state in ('url-created', 'file-uploaded')
    left join assets s on s.id = coalesce(v.asset_id, u.asset_id)
    where d.deleted_at is not null and (a.id is not null or s.state <> 'deleted')`,
  "J7 every waiting job has a launch under way or an intent to launch it": `
    select j.action_key from jobs j where j.state = 'file-processing-ready' and not exists (
      select 1 from worker_launches l where l.provisioning_token = j.provisioning_token and j.launched_at is not null)
    and (j.provisioning_token is not null or not exists (
      select 1 from outbox_messages o where o.action_key = j.action_key and o.kind = 'launch-worker'
        and o.state = 'pending' and o.generation = j.generation))`,
  "J10 a video that is deleted or blocked has no unfinished job": `
    select j.action_key from jobs j join assets s on s.id = j.asset_id
    where s.state <> 'active' and j.state in ('file-processing-ready', 'job-received')`,
  "U5 J11 of one video one job is on its way at most": `
    select asset_id from jobs where state in ('file-processing-ready', 'job-received')
    group by asset_id having count(*) > 1`,
  "J10 a request to cancel waits for a worker alone": `
    select action_key from jobs where state = 'file-processing-ready' and cancel_requested_at is not null`,
  "I15 every end of a job was told once": `
    select j.action_key from jobs j where j.ended_at is not null and (
      select count(*) from outbox_messages o where o.action_key = j.action_key and o.kind = 'job-ended'
        and o.generation = j.generation and o.payload ->> 'state' = j.state::text) <> 1`,
};

const query = Object.entries(breaches)
  .map(
    ([sentence, breach]) =>
      `select '${sentence.replaceAll("'", "''")}' as broken, x.id::text as by from (${breach}) x(id)`,
  )
  .join(" union all ");

/** What is broken and by which row; empty where everything holds. */
export async function findBreaches(db: Executor): Promise<{ broken: string; by: string }[]> {
  const { rows } = await db.execute<{ broken: string; by: string }>(sql.raw(query));
  return rows;
}
