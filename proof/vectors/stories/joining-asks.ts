import type { ExpectedOutput } from "@colloquy/machine";

import { accepted, answered, appended, ask, calling, cancelled, failed, fired, found, user } from "./events.ts";
import type { Story } from "./story.ts";

const output = (mode: ExpectedOutput["mode"], name = "title"): ExpectedOutput => ({
  name,
  schema: { type: "object" },
  mode,
  repairs: 1,
});

/** All that JavaScript trims. */
const whiteSpace =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";

/** Asks that join the open turn, and what they bring to it. */
export const joiningAskStories: readonly Story[] = [
  {
    name: "joining-asks",
    says: "What asks bring that join a turn lies over what it has, from the next call on.",
    options: { overlap: { type: "steer", max: 3 }, tools: [{ name: "look" }], model: { model: "m" } },
    events: [
      ask("a", "What?", {
        model: { temperature: 0, top: 1 },
        limits: { steps: 9, toolCalls: 9 },
        tools: [
          { name: "time", description: "Tells it." },
          { name: "place", parameters: { type: "object" } },
        ],
      }),
      ask("b", [user("This."), user("And that.")], {
        metadata: { x: 1, y: 1 },
        model: { temperature: 1 },
        limits: { steps: 8 },
        tools: [{ name: "time", description: "Tells another." }, { name: "weather" }],
      }),
      ask("c", "These.", { metadata: { y: 2 }, name: "Ada", joins: {} }),
      ask("d", [user("Those.")], { metadata: { y: 3, z: 3 }, joins: { askId: "a" } }),
      { says: "Three join it already.", event: ask("e", "Whose?") },
      cancelled("c"),
      {
        says: "It names an ask that the turn does not answer yet.",
        event: ask("e", "Whose?", { joins: { askId: "b" } }),
      },
      ask("e", [{ type: "image", url: "https://example.com/a.png" }], { output: output("native") }),
      appended("By the way."),
      calling("t/1.1#1", "look", "weather"),
      found("t/1.1.0#1"),
      found("t/1.1.1#1"),
      {
        says: "Now it is the turn's. Of a text the metadata are the message's.",
        event: ask("f", "Whose?", { joins: { askId: "b" }, metadata: { y: 9 } }),
      },
      answered("t/1.2#1", "{}"),
      accepted("t/1.2!output"),
      answered("t/1.3#1", "{}"),
      accepted("t/1.3!output"),
    ],
  },
  {
    name: "joining-asks-that-say-nothing",
    says: "An ask that joins a turn has to say something.",
    options: { overlap: { type: "steer", max: 9 } },
    events: [
      ask("a", "What?", { metadata: { x: 1 } }),
      ask("b", ""),
      ask("b", whiteSpace),
      ask("b", []),
      ask("b", [{ type: "text", text: " " }]),
      ask("b", [user(" "), user("")]),
      { says: "Characters that JavaScript does not trim.", event: ask("b", "\u001c\u0085\u180e\u200b") },
      ask("c", [user(" "), user("This.")]),
      ask("d", [
        { type: "text", text: " " },
        { type: "image", url: "https://example.com/a.png" },
      ]),
      ask("e", [{ type: "data", field: "document", value: null }]),
      failed("t/1.1#1"),
      fired("t/1.1#2!retry"),
      answered("t/1.1#2"),
    ],
  },
  {
    name: "joining-what-is-not-open-yet",
    says: "An ask that wants to join waits for a turn of its own while none is open; one that has to is refused.",
    options: { overlap: { type: "steer", max: 2 } },
    events: [
      ask("a", "What?", { joins: {} }),
      ask("a", "What?"),
      ask("b", "And?", { overlap: "queue" }),
      answered("t/1.1#1"),
      ask("c", "Then?"),
      ask("d", "So?", { joins: {} }),
      { says: "Two wait already.", event: ask("d", "So?") },
      fired("t/3!queue"),
      ask("d", "So?"),
      answered("t/2.1#1"),
      answered("t/2.2#1"),
      fired("t/8!queue"),
    ],
  },
  {
    name: "joining-tools",
    says: "No ask joins a turn with a tool that has the name of an output there, or an output that has that of a tool.",
    options: { overlap: { type: "steer", max: 9 } },
    events: [
      ask("a", "What?", { output: output("tool"), tools: [{ name: "look" }] }),
      ask("b", "This.", { tools: [{ name: "title" }] }),
      ask("b", "This.", { output: output("tool", "look") }),
      {
        says: "In another mode an output has no name that a model calls.",
        event: ask("b", "This.", { output: output("native", "look") }),
      },
      ask("c", "That.", { output: output("tool", "other") }),
      ask("d", "Those.", { tools: [{ name: "other" }] }),
      answered("t/1.1#1", "{}"),
      accepted("t/1.1!output"),
      { says: "What they brought is the turn's now.", event: ask("d", "Those.", { tools: [{ name: "other" }] }) },
      ask("d", "Those.", { tools: [{ name: "title" }] }),
      answered("t/1.2#1", "{}"),
      accepted("t/1.2!output"),
      answered("t/1.3#1", "{}"),
    ],
  },
  {
    name: "joining-asks-that-are-withdrawn",
    says: "Asks that joined a turn are withdrawn one by one, and interrupted with it.",
    options: { overlap: { type: "steer", max: 9 } },
    events: [
      ask("a", "What?"),
      ask("b", "This."),
      ask("c", "That."),
      cancelled("b"),
      cancelled("b"),
      { says: "The turn ends before it shows the other.", event: ask("d", "Now.", { overlap: "interrupt" }) },
      fired("t/5!queue"),
      ask("e", "Then?"),
      cancelled(),
    ],
  },
];
