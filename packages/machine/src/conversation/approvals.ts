import type { RequestApproval } from "./effect.ts";
import { outstanding } from "./outstanding.ts";
import type { State } from "./state.ts";

/** The approvals that somebody is asked for, in the order of the calls. Each is answered by an `approval.answered` that names its `id`. */
export const approvalsOf = (state: State): readonly RequestApproval[] =>
  outstanding(state).filter((effect) => effect.type === "requestApproval");
