import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

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
  withProgram(source, use, fault === null ? [] : [broken(fault)]);

const source = new URL("../../examples/28-node/server.ts", import.meta.url);

/** In the example: what gives way to what. */
const changes: Readonly<Record<Fault, readonly [string, string]>> = {
  "no-recovery": ["createHost({", "createHost({ recovery: false,"],
  "orders-twice": ["`${thing}\\n`", "`${thing}\\n${thing}\\n`"],
  "long-leases": ["createHost({", "createHost({ leaseTtlMs: 60_000,"],
};

const broken = (fault: Fault) => ({
  name: "broken",
  load: (id: string) => {
    if (id !== fileURLToPath(source)) return null;
    const text = readFileSync(id, "utf8");
    const [from, to] = changes[fault];
    if (!text.includes(from)) throw new Error(`${id} has no ${from}`);
    return text.replace(from, () => to);
  },
});
