/** A bug that is put into the code on purpose, and the test that must notice. */
export interface Mutation {
  /** The guarantee that is broken, as a bug would read in a change: "Drop the lease guard from publish". */
  readonly bug: string;
  /** The file, from the repository's root. */
  readonly file: string;
  /** Text that stands there exactly once… */
  readonly from: string;
  /** …and what the bug puts in its place. */
  readonly to: string;
  readonly caughtBy: {
    /** From the root. A file of the fault suite runs with its configuration, from fresh bundles. */
    readonly file: string;
    /** The test's title, whole or its beginning. */
    readonly title: string;
  };
}
