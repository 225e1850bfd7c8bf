/**
 * What a model wrote about turns that follow one another. It is kept with the last of them: wherever that turn is
 * on the path, so are the others, and the summary holds.
 */
export interface Summary {
  /** From 1, in the order of asking. */
  readonly number: number;
  /** The first turn that it covers; 0 is the seed. Its last is the turn that keeps it. */
  readonly from: number;
  readonly text: string;
  /** One of its turns was changed since, so it tells what is no longer so, and is not shown any more. */
  readonly stale?: true;
}
