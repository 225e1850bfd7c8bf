// The conversations of the small world: what the user does, when, and at which host.
import { tool, type LlmOutcome, type Tool, type ToolCall, declarationsOf } from "@colloquy/host";
import {
  type CallLlm,
  conversationMachine,
  type ConversationMachine,
  type MachineOptions,
  textOf,
} from "@colloquy/machine";

export type Place = "A" | "B";

/** An act of the user. It is possible once all before it were done and `after` holds. */
export type Act = { readonly at: Place; readonly after?: "taken" | "ended" } & (
  | { readonly type: "ask"; readonly input: string }
  /** Approves the requested call. Possible while one is requested. */
  | { readonly type: "approve" }
  /** Cancels the newest ask. */
  | { readonly type: "cancel" }
  /** Moves the head to the beginning. */
  | { readonly type: "undo" }
);

/** `taken`: every ask so far is in the journal. `ended`: every ask and act so far has its outcome. */
export interface Scene {
  readonly acts: readonly Act[];
  /** Whether the second process never gets the lease: it only asks. */
  readonly isCaller?: true;
}

export const scenes = {
  /** A tool that may run again beside one that must not; somebody asks at the other host meanwhile. */
  tools: {
    acts: [
      { type: "ask", at: "A", input: "lookup pay" },
      { type: "ask", at: "B", input: "hello" },
    ],
  },
  /** A tool that must be approved, which happens at the other host. */
  approval: {
    acts: [
      { type: "ask", at: "A", input: "post" },
      { type: "approve", at: "B" },
    ],
  },
  /** A turn that is cancelled at the other host, and one after it. */
  cancel: {
    acts: [
      { type: "ask", at: "A", input: "note" },
      { type: "cancel", at: "B", after: "taken" },
      { type: "ask", at: "B", input: "hello" },
    ],
  },
  /** A turn that is taken back at the other host. */
  undo: {
    acts: [
      { type: "ask", at: "A", input: "hello" },
      { type: "undo", at: "B", after: "ended" },
      { type: "ask", at: "A", input: "pay", after: "ended" },
    ],
  },
  /** The second process never holds the thread: it asks and approves through the inbox. The first looks for what waits. */
  caller: {
    isCaller: true,
    acts: [
      { type: "ask", at: "A", input: "hello" },
      { type: "ask", at: "B", input: "post", after: "taken" },
      { type: "approve", at: "B" },
    ],
  },
} as const satisfies Readonly<Record<string, Scene>>;

export type SceneName = keyof typeof scenes;

// The keys of this file's own object.
export const sceneNames = Object.keys(scenes) as readonly SceneName[];

const rules = {
  lookup: { recovery: "rerun" },
  pay: { recovery: "once" },
  note: { recovery: "interrupted" },
  post: { recovery: "once", approval: "always" },
} as const;

/** Makes the tools, whose functions call `run`. */
export const toolsWith = (run: (name: string, call: ToolCall, input: unknown) => Promise<string>): readonly Tool[] =>
  Object.entries(rules).map(([name, rule]) =>
    tool({
      name,
      description: `Does what "${name}" says.`,
      input: { jsonSchema: { type: "object" } },
      ...rule,
      run: (input, call) => run(name, call, input),
    }),
  );

export const declarations = declarationsOf(toolsWith(() => Promise.reject(new Error("nothing runs here"))));

export const machineOptions = {
  tools: declarations,
  overlap: { type: "queue", max: 8 },
  retry: { attempts: 3, baseDelayMs: 50 },
} as const satisfies MachineOptions;

export const machine: ConversationMachine = conversationMachine(machineOptions);

/** Calls the tools that the question names; then answers it. */
export const outcomeOf = ({ messages, step }: CallLlm): LlmOutcome => {
  const asked = messages.findLast(({ role }) => role === "user");
  const question = asked === undefined ? "" : textOf(asked);
  const calls = step === 1 ? question.split(" ").filter((name) => name in rules) : [];
  const toolCalls = calls.map((name) => ({ id: null, name, arguments: "{}" }));
  const reply = calls.length > 0 ? { toolCalls } : { content: `The answer to ${question}.` };
  return { type: "completed", reply, finishReason: "stop" };
};
