import { type Effect, type Event, type State, toArray, transition } from "@colloquy/machine";

/** Takes any answer for an output, whatever was found. */
export const acceptingAll: typeof transition = (machine, state, event, options) => {
  const { effectId } = { effectId: "", ...event };
  const accepted: Event = { type: "output.accepted", at: event.at, effectId, value: "anything" };
  return transition(machine, state, event.type === "output.refused" ? accepted : event, options);
};

/** Has the model mend its answer for ever. */
export const mendingForEver: typeof transition = (machine, state, event, options) => {
  const { open } = state.context;
  if (event.type !== "output.refused" || open?.output === undefined) return transition(machine, state, event, options);
  const output = { ...open.output, repairs: 99 };
  const patient: State = { ...state, context: { ...state.context, open: { ...open, output } } };
  return transition(machine, patient, event, options);
};

/** Shows later turns what was refused. */
export const showingWhatWasRefused: typeof transition = (machine, state, event, options) => {
  const result = transition(machine, state, event, options);
  if (!result.handled) return result;
  const { turns } = result.state.context.conversation;
  const refused = toArray(turns).flatMap(({ refusedOutputs = [] }) => refusedOutputs.map(({ reply }) => reply));
  const effects = result.effects.map((effect): Effect =>
    effect.type === "callLlm" ? { ...effect, messages: [...refused, ...effect.messages] } : effect,
  );
  return { ...result, effects };
};
