import type { Client } from "pg";

/** One person brings a thousand videos, all people together a thousand a day: so a longer history is only longer. */
const jobsPerUser = 1000;

/**
 * What jobs 1 to $1 and the rows around them have in common. `made` is the time of the job's admission; ids are hashes
 * of what they name, so that they lie scattered over their indexes as random ones do.
 */
const makeHistory = `
  create temporary table history as
  select i, job, md5('asset' || i)::uuid as asset, md5('attempt' || i)::uuid as attempt,
    md5('version' || i)::uuid as version, owner, i % 100 > 2 as done, made, made + interval '5 minutes' as ended,
    'uploads/' || owner || '/' || job || '/source.mp4' as source,
    'processed/' || owner || '/' || job || '/attempt-1/' as output
  from generate_series(1, $1) i,
    lateral (select md5('job' || i)::uuid as job,
      md5('user' || i % (($1 - 1) / ${jobsPerUser} + 1))::uuid::text as owner,
      now() - i * interval '1 day' / 1000 as made) facts`;

const fill = {
  users: `
    insert into users (id, name, email, role)
    select distinct owner, 'A person', owner || '@example.test', 'creator'::user_role from history`,
  assets: `
    insert into assets (id, owner_id, title, active_version_id, source_revision, version_count, created_at, updated_at)
    select asset, owner, 'A film', case when done then version end, 1, done::int, made, ended from history`,
  uploads: `
    insert into uploads (action_key, asset_id, user_id, state, key, filename, content_type, size_bytes, method, etag,
      source_revision, last_signed_at, created_at, updated_at, ended_at)
    select job, asset, owner, 'file-uploaded', source, 'film.mp4', 'video/mp4', 1000, 'put', md5(source), 1, made,
      made, made, made from history`,
  jobs: `
    insert into jobs (action_key, asset_id, source_revision, profile, state, attempt_count, waiting_reason, source_key,
      source_etag, source_size_bytes, source_duration_seconds, last_heartbeat_at, processing_started_at,
      progress_fraction, error_code, admitted_at, updated_at, ended_at)
    select job, asset, 1, 'hls-ts-v1', (case when done then 'processing-completed' when i % 100 = 0 then 'cancelled'
        else 'failed' end)::job_state, 1, null, source, md5(source), 1000, 60, ended, made, done::int,
      case when not done and i % 100 <> 0 then 'decode-failed' end, made, ended, ended from history`,
  job_attempts: `
    insert into job_attempts (id, action_key, attempt_number, generation, worker_id, state, stage, output_prefix,
      started_at, last_heartbeat_at, ended_at)
    select attempt, job, 1, 1, md5('worker' || i)::uuid, (case when done then 'succeeded' else 'failed' end)::attempt_state,
      'publish', output, made, ended, ended from history`,
  media_versions: `
    insert into media_versions (id, asset_id, version_number, source_revision, attempt_id, profile, processor, prefix,
      master_name, duration_seconds, width, height, has_audio, renditions, inventory, size_bytes, verified_at, published_at)
    select version, asset, 1, 1, attempt, 'hls-ts-v1', 'ffmpeg-cpu', output, 'master.m3u8', 60, 1280, 720, true, '[]',
      '[]', 1000, ended, ended from history where done`,
  worker_launches: `
    insert into worker_launches (provisioning_token, action_key, generation, machine_id, machine_type, usd_per_hour,
      began_at, gone_at)
    select md5('token' || i)::uuid, job, 1, 'machine-' || i, 'local', 0.1, made, ended from history`,
  outbox_messages: `
    insert into outbox_messages (kind, action_key, generation, state, available_at, created_at, ended_at)
    select kind::outbox_kind, job, 1, 'sent', made, made, ended
    from history, unnest(array['launch-worker', 'job-ended']) kind`,
  deletion_ledger: `
    insert into deletion_ledger (kind, target, reason, due_at, deleted_at, confirmed_at, created_at)
    select 'object', source, 'purged', ended, ended, ended, made from history where i % 10 = 0`,
  provisioning_errors: `
    insert into provisioning_errors (worker_id, action_key, generation, error_code, at)
    select md5('stray' || i)::uuid, job, 1, 'job-missing', made from history where i % 100 = 0`,
};

/** The key of a finished job of the history. */
export const finishedJob = `select md5('job' || 55)::uuid as key`;

/** Fills an empty database with `count` finished jobs and the rows that they stand on. */
export async function fillHistory(client: Client, count: number): Promise<void> {
  // Rows refer to each other in a circle, and all of them are there at the end.
  await client.query("set session_replication_role = replica");
  await client.query(makeHistory.replaceAll("$1", String(count)));
  for (const statement of Object.values(fill)) await client.query(statement);
  await client.query("drop table history");
  await client.query("reset session_replication_role");
}

/** The tables that a history makes long. */
export const longTables: readonly string[] = Object.keys(fill).filter((table) => table !== "users");
