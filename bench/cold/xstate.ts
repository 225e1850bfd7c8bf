// An idiomatic XState chart of a turn, and a loop that performs its actions. The messages are outside of the chart: in
// its context, they would be copied for each event.
import { initialTransition, setup, transition } from "xstate";
import { type PlainMessage, plainReply, plainResult } from "../kit/script.ts";
import type { OpenSide } from "./side.ts";

interface Happened {
  readonly type: "USER" | "MODEL" | "TOOL";
  readonly message: PlainMessage;
}

interface Params {
  readonly message: PlainMessage;
}

const types = setup({
  // Cast: XState only reads the types of these.
  types: { context: {} as { readonly count: number }, events: {} as Happened },
  actions: {
    append: (_, _params: Params) => {},
    callModel: () => {},
    callTool: (_, _params: Params) => {},
    done: () => {},
  },
  guards: { callsTool: ({ event }) => event.message.tool_calls !== undefined },
});

const count = types.assign(({ context }) => ({ count: context.count + 1 }));
const withMessage = ({ event }: { readonly event: Happened }): Params => ({ message: event.message });
const append = { type: "append", params: withMessage } as const;

const chart = types.createMachine({
  context: { count: 0 },
  initial: "idle",
  states: {
    idle: { on: { USER: { target: "model", actions: [count, append, "callModel"] } } },
    model: {
      on: {
        MODEL: [
          { guard: "callsTool", target: "tool", actions: [count, append, { type: "callTool", params: withMessage }] },
          { target: "idle", actions: [count, append, "done"] },
        ],
      },
    },
    tool: { on: { TOOL: { target: "model", actions: [count, append, "callModel"] } } },
  },
});

export const memory: OpenSide = (script) => ({
  open: () => {
    const messages: PlainMessage[] = [];
    let [state] = initialTransition(chart);
    return async (text) => {
      const events: Happened[] = [{ type: "USER", message: { role: "user", content: text } }];
      for (let event = events.shift(); event !== undefined; event = events.shift()) {
        const [next, actions] = transition(chart, state, event);
        state = next;
        for (const { type, params } of actions) {
          if (type === "append") messages.push(messageIn(params));
          else if (type === "callModel") events.push({ type: "MODEL", message: await plainReply(script, messages) });
          else if (type === "callTool")
            for (const call of messageIn(params).tool_calls ?? [])
              events.push({ type: "TOOL", message: await plainResult(call) });
        }
      }
      return messages.at(-1)?.content ?? "";
    };
  },
  close: () => {},
});

/** Returns the message of `withMessage`: XState no longer knows the type of the parameters. */
const messageIn = (params: unknown): PlainMessage => (params as Params).message;
