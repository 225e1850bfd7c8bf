import { digestOf } from "../../thread/make-message.ts";
import type { JsonObject } from "../../thread/plain-data.ts";
import type { CallerTool, OfferedTool } from "./event.ts";

/** A tool as the machine knows it: plain JSON. Its function is in a runtime, under the same name. */
export interface ToolDeclaration {
  readonly name: string;
  /** Change it when the function's behaviour changes. */
  readonly version?: string;
  readonly description?: string;
  /** JSON Schema of its arguments. */
  readonly parameters?: JsonObject;
  /** The handling of a call that was outstanding when the process died. Default `interrupted`. */
  readonly recovery?: ToolRecovery;
  /** Whether a person must approve a call before it runs: always, or if the runtime requires it. Default: never. */
  readonly approval?: "always" | "conditional";
  /** The longest time of one call, in milliseconds. Default: unlimited. */
  readonly timeoutMs?: number;
  /** The number of calls of this tool that may run at the same time. Default: unlimited. */
  readonly concurrency?: number;
}

/**
 * The handling of a call after a crash. `rerun`: it runs again with the same idempotency key, so the tool must
 * tolerate that. `interrupted`: the model is shown that it was interrupted. `once`: it must not run twice, so
 * `tool.started` is journalled before it runs. If it had not started it runs; otherwise its result says that the
 * outcome is unknown. `ask`: as `once`, but if the outcome is unknown a person is asked whether to run it again.
 */
export type ToolRecovery = "rerun" | "interrupted" | "once" | "ask";

/** Returns the part of a tool that a call offers to the model. */
export const offeredTool = ({ name, description, parameters }: CallerTool): OfferedTool => ({
  name,
  digest: digestOf({ name, description: description ?? null, parameters: parameters ?? null }),
});
