import type { Approvable, CallTool, Json, ToolFailed, ToolWithheld } from "@colloquy/machine";
import { canonicalText } from "@colloquy/machine";
import { approvableArguments, readArguments, type ValidArguments } from "../tools/arguments.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import type { ToolCall } from "../tools/tool.ts";

/** Returns why a call must be approved first; null if it may run. An approval holds for one version and arguments. */
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

/** Withholds a call that a crash interrupted: a person decides. Invalid arguments fail it with `otherwise`. */
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
