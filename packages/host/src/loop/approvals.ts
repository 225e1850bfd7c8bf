import type { Approvable, CallTool, Json, ToolFailed, ToolWithheld } from "@colloquy/machine";
import { canonicalText } from "@colloquy/machine";
import { approvableArguments, readArguments, type ValidArguments } from "../tools/arguments.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import type { ToolCall } from "../tools/tool.ts";

/**
 * Why a call may not run as it stands: because exactly what would be run now was not approved. Null where it may. What
 * was approved for another version, or for arguments that are validated otherwise today, is asked anew.
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
  // A function in JavaScript may forget to return: then approval is asked for.
  return needed === false ? null : "declared";
};

/** The event of a call that has to be approved first. */
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
 * The event of a call that a crash interrupted, whose outcome is unknown, and that a person is to decide about. Where its
 * arguments don't fit any more it is a failure: the model reads that the outcome is unknown.
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
    // A validator may be anybody's code.
    return otherwise;
  }
};
