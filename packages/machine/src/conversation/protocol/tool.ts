import { digestOf } from "../../thread/digest.ts";
import type { JsonObject } from "../../thread/json.ts";
import type { CallerTool, OfferedTool } from "./event.ts";

/** A tool as the machine knows it: plain JSON. Its function lives in a runtime, under the same name. */
export interface ToolDeclaration {
  readonly name: string;
  /** What the function does differently is another version. */
  readonly version?: string;
  readonly description?: string;
  /** JSON Schema of its arguments. */
  readonly parameters?: JsonObject;
  /** What to do about a call that was out when the process died. Default `interrupted`. */
  readonly recovery?: ToolRecovery;
  /** Whether a person has to approve a call before it runs: each, or those for which the runtime says so. Default: none. */
  readonly approval?: "always" | "conditional";
  /** How long one call may take, in milliseconds. Default: as long as it takes. */
  readonly timeoutMs?: number;
  /** How many calls of this tool may run at the same time. Default: all. */
  readonly concurrency?: number;
}

/**
 * After a crash. `rerun`: call it again, with the same idempotency key; for what may happen twice.
 * `interrupted`: the model is shown that it was interrupted. `once`: it must not run twice, so `tool.started` is
 * journalled before it runs; if it had not started it runs, else its result is that its outcome is unknown. `ask`: as
 * `once`, but where the outcome is unknown a person is asked whether to run it again.
 */
export type ToolRecovery = "rerun" | "interrupted" | "once" | "ask";

/** A tool as a call offers it. What a runtime does with it is no part of what a model sees of it. */
export const offeredTool = ({ name, description, parameters }: CallerTool): OfferedTool => ({
  name,
  digest: digestOf({ name, description: description ?? null, parameters: parameters ?? null }),
});
