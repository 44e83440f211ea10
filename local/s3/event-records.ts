import type { Catalogue } from "./catalogue.ts";

export interface PendingEvent {
  readonly id: number;
  /** JSON. */
  readonly body: string;
  /** How often it was sent in vain. */
  readonly attempts: number;
}

/** The catalogue's outbox. */
export function eventRecords({ database }: Pick<Catalogue, "database">) {
  const insert = database.prepare("INSERT INTO events (body, due_at) VALUES (?, ?)");
  const due = database.prepare(
    "SELECT id, body, attempts FROM events WHERE due_at <= ? ORDER BY due_at, id LIMIT ?",
  );
  const next = database.prepare("SELECT min(due_at) AS due_at FROM events WHERE due_at > ?");
  const remove = database.prepare("DELETE FROM events WHERE id = ?");
  const postpone = database.prepare("UPDATE events SET attempts = attempts + 1, due_at = ? WHERE id = ?");

  return {
    add: (body: string, now: Date): void => void insert.run(body, now.getTime()),
    due: (now: Date, limit: number): PendingEvent[] =>
      due.all(now.getTime(), limit) as unknown as PendingEvent[],
    /** When the next of those not yet due is; null where there is none. */
    nextDueAt(now: Date): Date | null {
      const { due_at } = next.get(now.getTime()) as { due_at: number | null };
      return due_at === null ? null : new Date(due_at);
    },
    remove: (id: number): void => void remove.run(id),
    postpone: (id: number, dueAt: Date): void => void postpone.run(dueAt.getTime(), id),
  };
}

export type EventRecords = ReturnType<typeof eventRecords>;
