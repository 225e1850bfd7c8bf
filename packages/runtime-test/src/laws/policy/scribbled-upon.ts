import { conversationMachine } from "@colloquy/machine";
import { scribblingOptions } from "../../scribbling/scribbling-options.ts";
import { requireSame } from "../evidence/law-broken.ts";
import { lookNamed, type PolicyLaw } from "./policy-run.ts";

/**
 * Checks P10: writing into the arguments of the policy, its summariser and the counter does not change the next prompt.
 * The check uses the widest or the narrowest look of the last state.
 */
export const scribblingChangesNothing: PolicyLaw = ({ options, views, subject }) => {
  for (const { state, looks } of views.slice(-1)) {
    for (const look of looks.slice(state.context.seq % 2 === 0 ? -1 : 0).slice(0, 1)) {
      const given = { ...options, budget: look.budget };
      const machine = conversationMachine(scribblingOptions(given));
      subject.promptOf(machine, state);
      const what = `a prompt behind one for which all that was given was written into (${lookNamed(look)})`;
      requireSame("P10", what, look.prompt, subject.promptOf(machine, state));
    }
  }
};
