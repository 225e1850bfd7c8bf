import { explain } from "@colloquy/machine/inspect";
import { fold } from "@colloquy/machine/journal";
import { outstanding, promptOf, start, transition } from "@colloquy/machine";

/**
 * The functions that the laws check. A test of a law passes a faulty function, which the law must notice; all others
 * use the machine's own.
 */
export interface Subject {
  readonly start: typeof start;
  readonly transition: typeof transition;
  readonly outstanding: typeof outstanding;
  readonly fold: typeof fold;
  readonly promptOf: typeof promptOf;
  readonly explain: typeof explain;
}

/** The machine's own functions. */
export const realSubject: Subject = { start, transition, outstanding, fold, promptOf, explain };
