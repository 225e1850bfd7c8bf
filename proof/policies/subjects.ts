// The policies for which the laws are checked: every shipped policy, with options that make it do something, and compositions.
import {
  clearResults,
  compactTurns,
  compose,
  type Counter,
  countMessage,
  estimateCounter,
  fitOversized,
  keepAll,
  lastMessages,
  lastTurns,
  limitResults,
  omitFields,
  onlyInputs,
  type Policy,
  summariseTurns,
  tokenWindow,
} from "@colloquy/machine/policies";
import type { Message } from "@colloquy/machine";
import type { Random } from "../kit/random.ts";

/** A policy with a name and with promises beyond those it declares. */
export interface Subject {
  readonly name: string;
  readonly policy: Policy;
  readonly counter: Counter;
  /** Its prompts fit if the mandatory content does. */
  readonly fits: boolean;
  /** It shows the newest units that fit, and all of them. */
  readonly fillsRoom: boolean;
}

/** Returns the shipped policies, fixed compositions of them, and random ones. */
export const subjectsOf = (random: Random): readonly Subject[] => [
  ...Object.entries(unbounded).map(([name, policy]) => subject(name, policy, false)),
  ...Object.entries(bounded).map(([name, policy]) => subject(name, policy, true)),
  { ...subject("tokenWindow()", tokenWindow(), true), fillsRoom: true },
  { ...subject("tokenWindow() in a template", tokenWindow(), true), counter: template },
  ...Array.from({ length: drawnCompositions }, () => drawn(random)),
];

const drawnCompositions = 6;

const subject = (name: string, policy: Policy, fits: boolean): Subject => ({
  name,
  policy,
  fits,
  counter: estimateCounter,
  fillsRoom: false,
});

/** Policies that ignore the room, or cannot keep to it. */
const unbounded: { readonly [name: string]: Policy } = {
  "keepAll()": keepAll(),
  "compose()": compose(),
  "lastTurns(0)": lastTurns(0),
  "lastTurns(3)": lastTurns(3),
  "lastTurns(1, slack 2)": lastTurns(1, { slack: 2 }),
  "lastMessages()": lastMessages(),
  "lastMessages(6 to 2)": lastMessages({ max: 6, keepRecent: 2 }),
  "lastMessages(3 to 3, no system)": lastMessages({ max: 3, keepRecent: 3, keepSystem: false }),
  "lastMessages(0)": lastMessages({ max: 0 }),
  "clearResults()": clearResults(),
  "clearResults(always)": clearResults({ keep: 1, when: "always" }),
  "clearResults(always, slack 2)": clearResults({ keep: 1, slack: 2, when: "always" }),
  "clearResults(keep 0)": clearResults({ keep: 0 }),
  "limitResults(200)": limitResults({ characters: 200 }),
  "limitResults(500, reference)": limitResults({ characters: 500, rule: "reference", tool: "read_result" }),
  "fitOversized()": fitOversized(),
  "fitOversized(results, reference)": fitOversized({ of: "toolResults", rule: "reference", tool: "read_result" }),
  "omitFields(image)": omitFields(["image"]),
  "onlyInputs(none)": onlyInputs([]),
};

/** Policies whose prompts fit if the mandatory content does. */
const bounded: { readonly [name: string]: Policy } = {
  "tokenWindow(500 - 100)": tokenWindow({ tokens: 500, reserve: 100 }),
  "tokenWindow(cut to 0.5)": tokenWindow({ cutTo: 0.5 }),
  "tokenWindow(cut to 0.1)": tokenWindow({ cutTo: 0.1 }),
  "compactTurns()": compactTurns(),
  "compactTurns(keep 1, at 0.3)": compactTurns({ keepTurns: 1, at: 0.3, maxTokens: 60 }),
  "summariseTurns()": summariseTurns(),
  "summariseTurns(3, keep 1)": summariseTurns({ maxTurns: 3, keepTurns: 1 }),
  "limitResults + tokenWindow": compose(limitResults({ characters: 200 }), tokenWindow()),
  "fitOversized + tokenWindow": compose(fitOversized(), tokenWindow()),
  "clearResults + fitOversized + tokenWindow(cut to 0.6)": compose(
    clearResults(),
    fitOversized(),
    tokenWindow({ cutTo: 0.6 }),
  ),
  "lastMessages(8 to 4) + tokenWindow": compose(lastMessages({ max: 8, keepRecent: 4 }), tokenWindow()),
  "lastTurns(4) + clearResults(always) + tokenWindow": compose(
    lastTurns(4),
    clearResults({ keep: 1, when: "always" }),
    tokenWindow(),
  ),
  "(limitResults + clearResults) + tokenWindow": compose(
    compose(limitResults({ characters: 300 }), clearResults({ keep: 1 })),
    tokenWindow(),
  ),
  "fitOversized + compactTurns": compose(fitOversized(), compactTurns({ keepTurns: 2 })),
  "limitResults + summariseTurns(2)": compose(limitResults({ characters: 200 }), summariseTurns({ maxTurns: 2 })),
};

/** Composes two to four of the others, at most one of which orders summaries. The result need not fit. */
const drawn = (random: Random): Subject => {
  const all = Object.entries({ ...unbounded, ...bounded });
  const parts: (readonly [string, Policy])[] = [];
  const many = 2 + Math.floor(random.next() * 3);
  while (parts.length < many) {
    const part = random.pick(all);
    if (part === undefined) break;
    const summarising = [...parts, part].filter(([, { summariser }]) => summariser !== undefined).length;
    if (summarising <= 1) parts.push(part);
  }
  const name = parts.map(([each]) => each).join(" + ");
  return subject(`drawn: ${name}`, compose(...parts.map(([, policy]) => policy)), false);
};

/** A counter of whole prompts, as with a template around them: each change of speaker costs more. */
const template: Counter = {
  ...estimateCounter,
  name: "template",
  countPrompt: (messages) =>
    messages.reduce(
      (total, message, index) =>
        total + countMessage(estimateCounter, message) + (changesSpeaker(messages[index - 1], message) ? 5 : 1),
      estimateCounter.perPrompt,
    ),
};

const changesSpeaker = (before: Message | undefined, message: Message): boolean => before?.role !== message.role;
