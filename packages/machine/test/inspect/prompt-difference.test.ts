import { expect, test } from "vitest";
import { type Message, messageFromDraft } from "../../src/index.ts";
import { changedMessages, changedTools, describeChanges } from "../../src/inspect/prompt-difference.ts";

const said = (id: string, content: string, role: "user" | "system" = "user"): Message =>
  messageFromDraft(id, { role, content });
const named = (name: string): Message => messageFromDraft("1.0", { role: "user", content: "a", name });
const tool = (name: string, digest = "d") => ({ name, digest });
const many = (count: number): readonly Message[] => Array.from({ length: count }, (_, at) => said(`${at}.0`, "a"));

test.each<readonly [readonly Message[], readonly Message[], string]>([
  [[said("1.0", "a b c")], [said("1.0", "a b c")], ""],
  [[said("1.0", "a b c d")], [said("1.0", "a x c d")], "user 1.0: −b +x"],
  [[said("1.0", "a b c d")], [said("1.0", "a b d")], "user 1.0: −c"],
  [[said("1.0", "a b b c")], [said("1.0", "a b b b c")], "user 1.0: +b"],
  [[said("1.0", "a b a")], [said("1.0", "a")], "user 1.0: −b a"],
  [[said("1.0", "a"), said("2.0", "b")], [said("2.0", "b")], 'user 1.0: −"a"'],
  [[said("2.0", "b")], [said("1.0", "a"), said("2.0", "b")], 'user 1.0: +"a"'],
  [[said("s", "Be brief.", "system")], [said("s", "Be kind.", "system")], "system: −brief. +kind."],
  [[named("ada")], [named("bob")], "user 1.0: other fields of the same words"],
  [[said("1.0", "a".repeat(60))], [], `user 1.0: −"${"a".repeat(60)}"`],
  [[said("1.0", "a".repeat(61))], [], `user 1.0: −"${"a".repeat(59)}…"`],
  [many(4), [], [0, 1, 2, 3].map((at) => `user ${at}.0: −"a"`).join("; ")],
  [many(5), [], `${[0, 1, 2, 3].map((at) => `user ${at}.0: −"a"`).join("; ")}; and 1 more`],
])("the changes of the messages of a prompt are described by what differs, case %#", (recorded, now, described) => {
  expect(describeChanges(changedMessages(recorded, now))).toBe(described);
});

test.each([
  [[tool("f")], [tool("f")], ""],
  [[tool("f")], [], "tool f: −the tool"],
  [[], [tool("f")], "tool f: +the tool"],
  [[tool("f", "1")], [tool("f", "2")], "tool f: −description and parameters of digest 1 +those of 2"],
  [[tool("f"), tool("g")], [tool("g"), tool("f")], "the order of the tools: −f, g +g, f"],
])("the changes of the tools of a prompt are described by what differs, case %#", (recorded, now, described) => {
  expect(describeChanges(changedTools(recorded, now))).toBe(described);
});
