import type { Approvable, CallTool, Json, ToolFailed, ToolWithheld } from "@colloquy/machine";
import { canonicalText } from "@colloquy/machine";
import { approvableArguments, readArguments, type ValidArguments } from "../tools/arguments.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import type { ToolCall } from "../tools/tool.ts";

/**
 * Returns why a call needs an approval before it runs; null if it may run. An approval counts only for the same version
 * of the tool and the same validated arguments. Otherwise the call is withheld again, for the same reason as before.
 */
export const whyWithheld = async (
  { declaration, needsApproval }: RegisteredTool,
  { approval }: CallTool,
  valid: ValidArguments,
  shown: Json,
  call: ToolCall,
): Promise<Approvable["because"] | null> => {
  if (approval === "required") return "declared";
  if (approval !== null) {
    const same =
      approval.version === (declaration.version ?? null) && canonicalText(approval.arguments) === canonicalText(shown);
    return same ? null : approval.because;
  }
  if (needsApproval === null) return declaration.approval === undefined ? null : "declared";
  const needed: unknown = await needsApproval(valid.value, call);
  // A function in JavaScript may forget to return: then an approval is requested.
  return needed === false ? null : "declared";
};

/** Makes the event that withholds a call until it is approved. */
export const withheld = (
  { declaration }: RegisteredTool,
  { id }: CallTool,
  shown: Json,
  because: Approvable["because"],
  at: number,
): ToolWithheld => ({
  type: "tool.withheld",
  at,
  effectId: id,
  because,
  ...(declaration.version === undefined ? {} : { version: declaration.version }),
  arguments: shown,
});

/**
 * Makes the event that withholds a call which a crash interrupted: its outcome is unknown, and a person decides whether
 * it runs again. If its arguments are no longer valid, `otherwise` fails it, and the model reads that the outcome is
 * unknown.
 */
export const withheldAfterCrash = async (
  tool: RegisteredTool,
  call: CallTool,
  at: number,
  otherwise: ToolFailed,
): Promise<ToolWithheld | ToolFailed> => {
  try {
    const read = await readArguments(call.arguments, tool.schema, tool.declaration.parameters);
    return "problem" in read ? otherwise : withheld(tool, call, approvableArguments(read), "unknown_outcome", at);
  } catch {
    // A validator is foreign code, and may throw.
    return otherwise;
  }
};
