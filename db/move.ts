import type { Guard, Machine } from "@reelkeep/core/machine";
import { and, inArray, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/**
 * The WHERE of one named move: the states that it may start from and nothing else. Every UPDATE of a state column
 * is built with it, so a move that the machine doesn't know can't be written, and one that comes too late changes
 * no row.
 */
export function mayMove<State extends string, Name extends string>(
  machine: Machine<State, Name>,
  name: NoInfer<Name>,
  stateColumn: PgColumn,
  ...conditions: (SQL | undefined)[]
): SQL {
  return and(inArray(stateColumn, [...machine.transitions[name].from]), ...conditions)!;
}

/** What a caller must hold to make a move with this guard. */
export type Held<G extends Guard> = G extends "lease-held" ? { readonly attemptId: string } : unknown;
