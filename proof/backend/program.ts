import { type Mistake, withMistakes } from "../kit/mistakes.ts";
import { withProgram } from "../kit/program.ts";

/** Ways to break the backend, which show that a fault is noticed. */
export const faults = {
  "no-recovery": "the backend continues no thread by itself",
  "orders-twice": "the tool does its work twice",
  "long-leases": "a lease lasts a minute",
} as const;

export type Fault = keyof typeof faults;

/** Makes one file of the documented backend, example 28, for as long as it is used. */
export const withBackend = <A>(fault: Fault | null, use: (program: string) => Promise<A>): Promise<A> =>
  withProgram(source, use, fault === null ? [] : [withMistakes([mistakes[fault]])]);

const source = new URL("../../examples/28-node/server.ts", import.meta.url);

const inExample = (text: string, instead: string): Mistake => ({ file: "/examples/28-node/server.ts", text, instead });

const mistakes: Readonly<Record<Fault, Mistake>> = {
  "no-recovery": inExample("createHost({", "createHost({ recovery: false,"),
  "orders-twice": inExample("`${thing}\\n`", "`${thing}\\n${thing}\\n`"),
  "long-leases": inExample("createHost({", "createHost({ leaseTtlMs: 60_000,"),
};
