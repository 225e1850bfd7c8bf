import type { ToolOutcome } from "../../thread/message.ts";
import type { Approvable } from "../protocol/data.ts";
import type { ApprovalAnswered } from "../protocol/event.ts";

/** The beginning of the result of a call that was denied and never ran. No other refused call has it. */
export const notApproved = "Not run: it was not approved";

/** Returns the machine's result for a denied call. */
export const denialOf = (
  { because }: Pick<Approvable, "because">,
  { reason }: Pick<ApprovalAnswered, "reason">,
): { readonly outcome: ToolOutcome; readonly content: string } => {
  const why = reason === undefined ? "." : `: ${reason}`;
  if (because === "declared") return { outcome: "refused", content: `${notApproved}${why}` };
  const started =
    "The call was started, and the process that ran it stopped before it answered: it may or may not have taken effect.";
  return { outcome: "unknown", content: `${started} It was not run again${why}` };
};
