import { appendFileSync, readFileSync } from "node:fs";

/** A run of a tool or model, one line each, in a file that many processes append to: `charge t1/1.1.0#1`. */
export interface Ran {
  /** The name of a tool, or `model`. */
  readonly what: string;
  /** The id of the effect. */
  readonly id: string;
}

/** Notes a run before it does anything, so that it is there whatever becomes of the process: a short append is atomic. */
export const noteRun = (ledger: string, { what, id }: Ran): void => appendFileSync(ledger, `${what} ${id}\n`);

/** All runs that were noted. */
export const readLedger = (ledger: string): readonly Ran[] => runsIn(readFileSync(ledger, "utf8"));

/** The runs in some whole lines. */
export const runsIn = (lines: string): readonly Ran[] =>
  lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const space = line.indexOf(" ");
      return { what: line.slice(0, space), id: line.slice(space + 1) };
    });
