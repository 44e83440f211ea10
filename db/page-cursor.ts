/** Where a page of a list ended: lists are ordered by a time and, within it, by an id. */
export interface PageCursor {
  readonly at: Date;
  readonly id: string;
}
