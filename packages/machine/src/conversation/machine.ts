// Rule 1: every arrow of a conversation is in this file.
// Rule 2: neither this file nor the code it calls reads a clock, a random source or a global.
// Rule 3: events are facts, effects are requests. `decide` says whether an event fits, and `update` applies it;
//         an arrow only names the next state.
import * as Either from "fp-ts/lib/Either.js";
import { type AnyStateMachine, enqueueActions, setup } from "xstate";
import { frozen, owned } from "../thread/plain-data.ts";
import { begin, SeedError } from "./update/begin.ts";
import { configurationOf, type Settings, settingsOf, withDefaults } from "./decide/settings.ts";
import type { Configuration, Event, ThreadInput } from "./protocol/event.ts";
import { type ConversationData, type Leaf, type StateValue, stateValues } from "./protocol/data.ts";
import { decide } from "./decide/decide.ts";
import type { Effect } from "./protocol/effect.ts";
import { readEvent, readThreadInput } from "./protocol/event-forms.ts";
import type { MachineOptions, Overlap } from "./decide/options.ts";
import type { Arrow, Plan } from "./update/plan.ts";
import { guardedMachine } from "./live-actor.ts";
import { update } from "./update/update.ts";
import type { ToolDeclaration } from "./protocol/tool.ts";

/** The key of the data that only `transition` and its relatives read. */
export const internals: unique symbol = Symbol("colloquy.internals");

/** The configured XState machine of a conversation. */
export type ConversationMachine = ReturnType<typeof machineOf> & {
  readonly [internals]: Internals;
};

export interface Internals {
  readonly settings: Settings;
  readonly arrows: Arrows;
  readonly isOverlapSet: boolean;
}

/**
 * Creates the machine of a conversation. `transition` and its relatives step it as plain data;
 * `createActor(machine.provide({ actions: { perform } }), { input: { threadId, at, … } })` runs it as a live actor,
 * which performs each effect at once and keeps no journal.
 *
 * @throws ConfigurationError for invalid options.
 */
export const conversationMachine = (options: MachineOptions = {}): ConversationMachine => {
  const settings = settingsOf(options);
  return Object.assign(guardedMachine(machineOf(settings)), {
    [internals]: { settings, arrows, isOverlapSet: options.overlap != null },
  });
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
        for (const effect of frozen(plan.effects(settings.prompts))) enqueue({ type: "perform", params: effect });
        enqueue.assign(plan.data);
      }),
    },
  }).createMachine({
    id: "conversation",
    context: ({ input }) => contextOf(input, settings),
    initial: "idle",
    on: everywhere,
    states: {
      // No ask waits before the first turn: no timer is due.
      idle: { on: { "ask.received": opening["ask.received"] } },
      awaiting_llm: {
        on: { "timer.fired": error, "cancel.requested": error, "ask.received": error },
        initial: "responding",
        states: {
          responding: {
            on: {
              "llm.completed": [responding, compacting, checking, running, completed, error],
              "llm.failed": [backingOff, error],
              "llm.progressed": stays,
            },
          },
          compacting: { on: compacted },
          checking: {
            on: { "output.accepted": [responding, completed], "output.refused": [responding, compacting, error] },
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

/** Creates an arrow that is taken if the plan of an event names it. */
const leading = <const Taken extends Exclude<Arrow, "stays">, const Target extends string>(taken: Taken, to: Target) =>
  ({ ...guarded(taken), target: `#conversation.${to}` }) as const;

const guarded = <const Taken extends Arrow>(taken: Taken) =>
  ({ guard: { type: "leads", params: taken }, actions: "carryOut" }) as const;

const stays = guarded("stays");
const responding = leading("responding", "awaiting_llm.responding");
const compacting = leading("compacting", "awaiting_llm.compacting");
const checking = leading("checking", "awaiting_llm.checking");
const backingOff = leading("backing_off", "awaiting_llm.backing_off");
const running = leading("running", "awaiting_tool.running");
const awaitingApproval = leading("awaiting_approval", "awaiting_tool.awaiting_approval");
const completed = leading("completed", "completed");
const error = leading("error", "error");

/** The events that every state accepts without leaving it. */
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

/** The events that open a turn: an ask, or the timer that wakes a queued one. */
const opening = {
  "ask.received": [responding, compacting, error],
  "timer.fired": [responding, compacting, error],
} as const;

/** The events that end the wait for a summary. */
const compacted = {
  "llm.completed": [responding, error],
  "llm.failed": [responding, error],
  "timer.fired": [responding, error],
} as const;

/** The targets of each event from each state, read from an XState machine. */
type Arrows = { readonly [From in Leaf]: { readonly [eventType: string]: Targets | undefined } };

type Targets = { readonly [Taken in Arrow]?: StateValue };

/**
 * Reads the arrows of a machine once, so that a step is a look-up and does not interpret the statechart.
 *
 * Each guard asks for one plan. Among several transitions for the same event and plan, XState takes the first, and a
 * state's own before its parent's. This function reads them in that order; the law `equalStep` compares the two.
 */
const arrowsOf = (machine: AnyStateMachine): Arrows =>
  // The list of leaves covers every key, as the type claims.
  frozen(Object.fromEntries(leaves.map((leaf) => [leaf, arrowsFrom(machine, leaf)])) as Arrows);

// The type of `stateValues` names exactly its keys.
const leaves = Object.keys(stateValues) as readonly Leaf[];

type Node = AnyStateMachine["root"];

const arrowsFrom = (machine: AnyStateMachine, leaf: Leaf): Arrows[Leaf] => {
  const arrows: { [eventType: string]: { [Taken in Arrow]?: StateValue } } = {};
  for (let node: Node | undefined = nodeOf(machine.root, leaf); node !== undefined; node = node.parent) {
    for (const [eventType, transitions] of node.transitions) {
      const targets = (arrows[eventType] ??= {});
      for (const { guard, target } of transitions) {
        const arrow = arrowOf(guard);
        const to = target?.[0]?.key;
        if (arrow !== undefined) targets[arrow] ??= stateValues[leaves.find((name) => name === to) ?? leaf];
      }
    }
  }
  return arrows;
};

const nodeOf = (node: Node, leaf: Leaf): Node | undefined => {
  for (const child of Object.values<Node>(node.states)) {
    const found = child.key === leaf ? child : nodeOf(child, leaf);
    if (found !== undefined) return found;
  }
  return undefined;
};

const arrowOf = (guard: unknown): Arrow | undefined => {
  const params = typeof guard === "object" && guard !== null && "params" in guard ? guard.params : undefined;
  if (params === "stays") return params;
  const leaf = leaves.find((name) => name === params);
  return leaf === "idle" ? undefined : leaf;
};

/** The arrows, read once because they are the same in every configuration. */
const arrows = arrowsOf(machineOf(settingsOf({})));

const planFor = (settings: Settings, context: ConversationData, event: Event): Plan | null => {
  const data = owned(context);
  const read = readEvent(event);
  if (Either.isLeft(read)) return null;
  const taken = read.right;
  const decided = decide(settings, data, taken);
  return Either.isLeft(decided) ? null : frozenPlan(update(data, taken, frozen(decided.right)));
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

/** Returns whether a value was created by `conversationMachine`. */
export const isConversationMachine = (value: unknown): value is ConversationMachine =>
  typeof value === "object" && value !== null && internals in value;

/**
 * Returns a digest of a machine's configuration: names, versions and options, without functions. Machines that decide
 * alike have the same digest.
 */
export const fingerprintOf = (machine: ConversationMachine): string => machine[internals].settings.fingerprint;

/**
 * Returns the part of a machine's configuration that a thread stores. Send it as `thread.configured` when it changes.
 */
export const configurationOfMachine = (machine: ConversationMachine): Configuration =>
  configurationOf(machine[internals].settings);

/** Returns the option `overlap` of a machine; null if it was left out, so that a host may choose what is best for its callers. */
export const overlapOf = (machine: ConversationMachine): Overlap | null => {
  const { settings, isOverlapSet } = machine[internals];
  return isOverlapSet ? settings.overlap : null;
};

/** Returns the tools that a machine was configured with. */
export const toolsOf = (machine: ConversationMachine): readonly ToolDeclaration[] => machine[internals].settings.tools;
