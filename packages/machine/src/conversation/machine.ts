// Rule 1: every arrow of a conversation is in this file.
// Rule 2: nothing here, or in what it calls, reads a clock, a random source or a global.
// Rule 3: events are facts, effects are requests. Whether an event fits, and what it comes to, is said by
//         `decide` and `update`; an arrow only says where that leads.
import * as Either from "fp-ts/lib/Either.js";
import { enqueueActions, setup } from "xstate";
import { frozen, owned } from "../thread/frozen.ts";
import { arrowsOf } from "./arrows.ts";
import type { Arrows } from "./arrows.ts";
import { begin, SeedError } from "./update/begin.ts";
import { withDefaults, configurationOf, settingsOf } from "./decide/settings.ts";
import type { ThreadInput, Event, Configuration } from "./protocol/event.ts";
import type { ConversationData } from "./protocol/data.ts";
import { decide } from "./decide/decide.ts";
import type { Effect } from "./protocol/effect.ts";
import { readEvent, readThreadInput } from "./protocol/event-shape.ts";
import type { MachineOptions } from "./decide/options.ts";
import type { Arrow, Plan } from "./update/plan.ts";
import type { Settings } from "./decide/settings.ts";
import { guardedMachine } from "./live-actor.ts";
import { update } from "./update/update.ts";
import type { ToolDeclaration } from "./protocol/tool.ts";

/** What only `transition` and its kin look at. */
export const kernel: unique symbol = Symbol("colloquy.kernel");

/** A conversation's XState machine, configured. */
export type ConversationMachine = ReturnType<typeof machineOf> & {
  readonly [kernel]: Kernel;
};

export interface Kernel {
  readonly settings: Settings;
  readonly arrows: Arrows;
}

/**
 * The machine of a conversation. `transition` and its kin step it as plain data;
 * `createActor(machine.provide({ actions: { perform } }), { input: { threadId, at, … } })` runs it as a live
 * actor, which performs each effect as it comes and keeps no journal.
 *
 * @throws ConfigurationError for options that can't be meant.
 */
export const conversationMachine = (options: MachineOptions = {}): ConversationMachine => {
  const settings = settingsOf(options);
  return Object.assign(guardedMachine(machineOf(settings)), { [kernel]: { settings, arrows } });
};

const machineOf = (settings: Settings) => {
  const planOf = (context: ConversationData, event: Event): Plan | null => planFor(settings, context, event);
  return setup({
    types: {
      // XState reads only the types of these three, never the values.
      context: {} as ConversationData,
      events: {} as Event,
      input: {} as ThreadInput,
    },
    guards: {
      leads: ({ context, event }, arrow: Arrow): boolean => planOf(context, event)?.arrow === arrow,
    },
    actions: {
      perform: (_: unknown, _effect: Effect): void => {},
      carryOut: enqueueActions(({ context, event, enqueue }) => {
        const plan = planOf(context, event);
        if (plan === null) return;
        for (const effect of frozen(plan.effects())) enqueue({ type: "perform", params: effect });
        enqueue.assign(plan.data);
      }),
    },
  }).createMachine({
    id: "conversation",
    context: ({ input }) => contextOf(input, settings),
    initial: "idle",
    on: everywhere,
    states: {
      idle: { on: opening },
      awaiting_llm: {
        on: { "timer.fired": error, "cancel.requested": error, "ask.received": error },
        initial: "responding",
        states: {
          responding: {
            on: {
              "llm.completed": [responding, compacting, running, completed, error],
              "llm.failed": [backingOff, error],
              "llm.progressed": stays,
            },
          },
          compacting: {
            on: {
              "llm.completed": [responding, error],
              "llm.failed": [responding, error],
              "timer.fired": [responding, error],
            },
          },
          backing_off: { on: { "timer.fired": [responding, compacting, error] } },
        },
      },
      awaiting_tool: {
        on: { "timer.fired": error, "cancel.requested": error, "ask.received": error },
        initial: "running",
        states: {
          running: {
            on: {
              "tool.started": stays,
              "tool.withheld": [stays, awaitingApproval],
              "tool.completed": [stays, awaitingApproval, responding, compacting, error],
              "tool.failed": [stays, awaitingApproval, responding, compacting, error],
              "approval.answered": stays,
            },
          },
          awaiting_approval: { on: { "approval.answered": [stays, running, responding, compacting, error] } },
        },
      },
      completed: { on: opening },
      error: { on: opening },
    },
  });
};

const stays = { guard: { type: "leads", params: "stays" }, actions: "carryOut" } as const;
const responding = {
  guard: { type: "leads", params: "responding" },
  target: "#conversation.awaiting_llm.responding",
  actions: "carryOut",
} as const;
const compacting = {
  guard: { type: "leads", params: "compacting" },
  target: "#conversation.awaiting_llm.compacting",
  actions: "carryOut",
} as const;
const backingOff = {
  guard: { type: "leads", params: "backing_off" },
  target: "#conversation.awaiting_llm.backing_off",
  actions: "carryOut",
} as const;
const running = {
  guard: { type: "leads", params: "running" },
  target: "#conversation.awaiting_tool.running",
  actions: "carryOut",
} as const;
const awaitingApproval = {
  guard: { type: "leads", params: "awaiting_approval" },
  target: "#conversation.awaiting_tool.awaiting_approval",
  actions: "carryOut",
} as const;
const completed = {
  guard: { type: "leads", params: "completed" },
  target: "#conversation.completed",
  actions: "carryOut",
} as const;
const error = {
  guard: { type: "leads", params: "error" },
  target: "#conversation.error",
  actions: "carryOut",
} as const;

/** What can be told in every state, and does not leave it. */
const everywhere = {
  "ask.received": stays,
  // The outcome of a summary, which is background work.
  "llm.completed": stays,
  "llm.failed": stays,
  "cancel.requested": stays,
  "message.appended": stays,
  "round.appended": stays,
  "system.changed": stays,
  "system.reset": stays,
  "metadata.changed": stays,
  "thread.forked": stays,
  "thread.redacted": stays,
  "turn.added": stays,
  "turn.annotated": stays,
  "answer.truncated": stays,
  "head.moved": stays,
  "checkpoint.named": stays,
  "message.pinned": stays,
  "thread.configured": stays,
} as const;

/** A turn opens with an ask, or with the timer that wakes a queued one; a limit of zero ends it at once. */
const opening = {
  "ask.received": [responding, compacting, error],
  "timer.fired": [responding, compacting, error],
} as const;

/** Where events lead is the same in every configuration, so it is read once. */
const arrows = arrowsOf(machineOf(settingsOf({})));

const planFor = (settings: Settings, context: ConversationData, event: Event): Plan | null => {
  const data = owned(context);
  const read = readEvent(event);
  if (Either.isLeft(read)) return null;
  const told = read.right;
  const decided = decide(settings, data, told);
  return Either.isLeft(decided) ? null : frozenPlan(update(data, told, frozen(decided.right)));
};

const frozenPlan = (plan: Plan): Plan => ({ ...plan, data: frozen(plan.data) });

const noInput: ThreadInput = Object.freeze({ threadId: "", at: 0 });

/** XState also asks for a context without input, for the initial snapshot of an actor that only steps. */
const contextOf = (input: ThreadInput | undefined, settings: Settings): ConversationData => {
  const read = input === undefined ? Either.right(noInput) : readThreadInput(input);
  if (Either.isLeft(read)) throw new SeedError(read.left);
  const begun = begin(frozen(withDefaults(settings, read.right)));
  if (Either.isLeft(begun)) throw new SeedError(begun.left);
  return begun.right;
};

/** Whether a value is a machine that `conversationMachine` made. */
export const isConversationMachine = (value: unknown): value is ConversationMachine =>
  typeof value === "object" && value !== null && kernel in value;

/** A digest of a machine's configuration: names, versions and options in place of functions. Equal for machines that decide alike. */
export const fingerprintOf = (machine: ConversationMachine): string => machine[kernel].settings.fingerprint;

/** What a thread keeps of a machine's configuration; to be told as `thread.configured` when it differs. */
export const configurationOfMachine = (machine: ConversationMachine): Configuration =>
  configurationOf(machine[kernel].settings);

/** The tools that a machine was configured with. */
export const toolsOf = (machine: ConversationMachine): readonly ToolDeclaration[] => machine[kernel].settings.tools;
