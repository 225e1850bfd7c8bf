import { childSecondsMax, runChild } from "../kit/program.ts";
import { type ChildOptions, leaseLostCode } from "./child.ts";
import type { Kill } from "./plan.ts";

/** How a child ended: `done` with the conversation, killed as planned, without its lease, or by a mistake of its own. */
export type BootEnd =
  | { readonly type: "done" | "killed" | "lease-lost" }
  | { readonly type: "failed"; readonly reason: string };

/** Starts a child from its program, and kills it as planned. */
export const boot = async (
  program: string,
  options: Omit<ChildOptions, "diesAt">,
  kill: Kill | null,
): Promise<BootEnd> => {
  const diesAt = kill !== null && "atPoint" in kill ? kill.atPoint : null;
  const afterMs = kill !== null && "afterMs" in kill ? kill.afterMs : null;
  const end = await runChild(program, { ...options, diesAt } satisfies ChildOptions, afterMs);
  const { code, signal, hung, stderr } = end;
  if (hung) return { type: "failed", reason: `it was not done after ${childSecondsMax} s` };
  if (code === 0) return { type: "done" };
  if (code === leaseLostCode) return { type: "lease-lost" };
  if (signal === "SIGKILL" && kill !== null) return { type: "killed" };
  return { type: "failed", reason: `it ended with ${signal ?? code}: ${stderr}` };
};
