import { type CallTool, conversationMachine, type Effect, type MachineOptions, type State } from "@colloquy/machine";
import { declarationsOf, type Tool, tool, type ToolDefinition, type ToolInput } from "@colloquy/host";
import {
  type Decision,
  type HandledDecision,
  type Performer,
  performerOf,
  type PerformerOptions,
} from "@colloquy/host/perform";
import { manualClock, says, type ScriptedStep } from "./stage.ts";

export const at = 2_000_000;

export const ask = { type: "ask.received", at: 0, askId: "a", input: "Hi." } as const;

/** Returns options of a performer whose model follows a script. */
export const optionsOf = (
  script: readonly ScriptedStep[],
  tools: readonly Tool[] = [],
  machine: MachineOptions = {},
): PerformerOptions => {
  let called = 0;
  return {
    machine: conversationMachine({ tools: declarationsOf(tools), ...machine }),
    tools,
    clock: manualClock(),
    llm: async (call, context) => {
      const step = script[called++] ?? says("done");
      return typeof step === "function" ? step(call, context) : step;
    },
  };
};

export const subject = (definition: Partial<ToolDefinition<ToolInput>> = {}): Tool =>
  tool({
    name: "subject",
    description: "",
    input: { jsonSchema: { type: "object" } },
    run: () => "ran",
    ...definition,
  });

export const handled = (decision: Decision): HandledDecision => {
  if (decision.type !== "handled") throw new Error(JSON.stringify(decision));
  return decision;
};

/** Returns the first effect of a type in a decision. */
export const effectOf = <Type extends Effect["type"]>(
  { effects }: HandledDecision,
  type: Type,
): Extract<Effect, { readonly type: Type }> => {
  const found = effects.find((effect) => effect.type === type);
  if (found === undefined) throw new Error(`nothing asks for ${type}`);
  // TypeScript can't narrow a union of effects by a type parameter.
  return found as Extract<Effect, { readonly type: Type }>;
};

/** Returns a thread whose model has called its first tool, and that call. */
export const called = (
  options: PerformerOptions,
): { readonly performer: Performer; readonly state: State; readonly call: CallTool } => {
  const performer = performerOf(options);
  const asked = handled(performer.decide("t", null, ask, { at }));
  const { id: effectId, promptDigest } = effectOf(asked, "callLlm");
  const reply = { toolCalls: [{ id: null, name: options.tools?.[0]?.declaration.name ?? "", arguments: "{}" }] };
  const answer = { type: "llm.completed", at, effectId, promptDigest, reply, finishReason: "tool_calls" } as const;
  const decision = handled(performer.decide("t", asked.state, answer, { at }));
  return { performer, state: decision.state, call: effectOf(decision, "callTool") };
};
