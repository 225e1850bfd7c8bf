import { answered, appended, ask, cancelled, failed, fired, type Untimed } from "./events.ts";
import type { Story } from "./story.ts";

const systemIs = (system: string | null): Untimed => ({ type: "system.changed", system });

/** When a system message can't be taken away: where it is all that there is to send. */
export const systemMessageStories: readonly Story[] = [
  {
    name: "system-message-of-an-open-turn",
    says: "The system message stays while a turn is open that says nothing, since its call may have to be made again.",
    start: { system: "Greet." },
    events: [
      ask("a", []),
      { says: "Nothing would be left to send.", event: systemIs(null) },
      { says: "Another one will do.", event: systemIs("Greet in French.") },
      failed("t/1.1#1"),
      systemIs(null),
      fired("t/1.1#2!retry"),
      answered("t/1.1#2"),
      { says: "The turn has ended, and something was said.", event: systemIs(null) },
      ask("b", []),
    ],
  },
  {
    name: "system-message-of-the-next-turn",
    says: "The system message stays while the ask that comes next says nothing.",
    options: { overlap: { type: "queue", max: 3 } },
    start: { system: "Greet." },
    events: [
      ask("a", []),
      ask("b", []),
      ask("c", "Hello."),
      cancelled(),
      systemIs(null),
      ask("d", []),
      cancelled("b"),
      { says: "The one behind it may come next.", event: systemIs(null) },
      cancelled("d"),
      { says: "The ask that comes next says something.", event: systemIs(null) },
      fired("t/4!queue"),
    ],
  },
  {
    name: "system-message-beside-others",
    says: "The system message goes where the open turn has something of its own: an ask, or what waits behind its call, and no output that may not fit.",
    options: { overlap: { type: "steer", max: 3 } },
    events: [
      systemIs("Greet."),
      ask("a", []),
      { says: "The thread began with none.", event: { type: "system.reset" } },
      ask("b", "Hello."),
      { says: "What joins may be withdrawn.", event: { type: "system.reset" } },
      appended("Hello."),
      { type: "system.reset" },
    ],
  },
  {
    name: "system-message-before-an-output",
    says: "An answer that may not fit is nothing that stays.",
    start: { system: "Greet." },
    events: [
      ask("a", [], { output: { name: "greeting", schema: {}, mode: "native", repairs: 0 } }),
      answered("t/1.1#1"),
      systemIs(null),
      cancelled(),
      ask("b", "Hello.", { output: { name: "greeting", schema: {}, mode: "native", repairs: 0 } }),
      systemIs(null),
    ],
  },
  {
    name: "turns-without-a-message",
    says: "An ask that says nothing is refused where only turns without a message came before it.",
    start: { system: "Greet." },
    events: [
      ask("a", []),
      cancelled(),
      systemIs(null),
      ask("b", []),
      ask("b", ""),
      ask("b", [], { from: 0 }),
      ask("b", "Hello."),
    ],
  },
];
