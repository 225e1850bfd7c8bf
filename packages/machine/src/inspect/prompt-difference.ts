import { type Message, messageWords } from "../thread/message.ts";
import { firstWords } from "./text-table.ts";
import type { OfferedTool } from "../conversation/protocol/event.ts";
import { canonicalText } from "../thread/make-message.ts";

/** A difference of a prompt from the recorded one: one message, or one tool. Plain data. */
export interface PromptChange {
  /**
   * `system`, `user 2.0`, `assistant 2.1`, `tool weather`: the role and the id of a message, or a tool by its name.
   */
  readonly what: string;
  /** The words that only the recorded prompt has; empty for none. */
  readonly removed: string;
  /** The words that only the new prompt has; empty for none. */
  readonly added: string;
}

export const changedMessages = (recorded: readonly Message[], now: readonly Message[]): readonly PromptChange[] => {
  const [before, after] = withoutEqualEnds(recorded, now, (left, right) => left.digest === right.digest);
  const byId = new Map(after.map((message) => [message.id, message]));
  const ids = new Set(before.map(({ id }) => id));
  return [
    ...before.flatMap((message) => {
      const other = byId.get(message.id);
      if (other === undefined) return { what: labelOf(message), removed: wordsOf(message), added: "" };
      return other.digest === message.digest ? [] : changeOf(message, other);
    }),
    ...after
      .filter(({ id }) => !ids.has(id))
      .map((message) => ({ what: labelOf(message), removed: "", added: wordsOf(message) })),
  ];
};

export const changedTools = (
  recorded: readonly OfferedTool[],
  now: readonly OfferedTool[],
): readonly PromptChange[] => {
  const [before, after] = [new Map(recorded.map(named)), new Map(now.map(named))];
  const changes = [...new Set([...before.keys(), ...after.keys()])].flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === is) return [];
    if (is === undefined) return { what: `tool ${shown(name)}`, removed: "the tool", added: "" };
    if (was === undefined) return { what: `tool ${shown(name)}`, removed: "", added: "the tool" };
    return {
      what: `tool ${shown(name)}`,
      removed: `description and parameters of digest ${was}`,
      added: `those of ${is}`,
    };
  });
  const sameOrder = canonicalText([...before.keys()]) === canonicalText([...after.keys()]);
  return changes.length > 0 || sameOrder
    ? changes
    : [{ what: "the order of the tools", removed: namesOf(before), added: namesOf(after) }];
};

/** Formats changes on one line: `system: −careful +terse; −user 1.0 ("Hello"); +tool weather`. */
export const describeChanges = (changes: readonly PromptChange[]): string => {
  const listed = changes.slice(0, listedMax).map(describeChange);
  const more = changes.length - listed.length;
  return [...listed, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
};

const listedMax = 4;

const describeChange = ({ what, removed, added }: PromptChange): string => {
  if (removed !== "" && added !== "") return `${what}: −${removed} +${added}`;
  if (removed === "" && added === "") return `${what}: other fields of the same words`;
  return `${what}: ${removed === "" ? `+${added}` : `−${removed}`}`;
};

/** Compares two messages without their common beginning and end. */
const changeOf = (recorded: Message, now: Message): PromptChange => {
  const [before, after] = withoutEqualEnds(
    messageWords(recorded).split(/\s+/u),
    messageWords(now).split(/\s+/u),
    (left, right) => left === right,
  );
  return { what: labelOf(recorded), removed: shown(before.join(" ")), added: shown(after.join(" ")) };
};

const withoutEqualEnds = <Item>(
  left: readonly Item[],
  right: readonly Item[],
  equal: (left: Item, right: Item) => boolean,
): readonly [readonly Item[], readonly Item[]] => {
  const sameAt = (index: number, other: number): boolean => {
    const [one, two] = [left[index], right[other]];
    return one !== undefined && two !== undefined && equal(one, two);
  };
  const shorter = Math.min(left.length, right.length);
  let begin = 0;
  while (sameAt(begin, begin)) begin++;
  let end = 0;
  while (end < shorter - begin && sameAt(left.length - 1 - end, right.length - 1 - end)) end++;
  return [left.slice(begin, left.length - end), right.slice(begin, right.length - end)];
};

const labelOf = ({ role, id }: Message): string => (role === "system" || role === "developer" ? role : `${role} ${id}`);

const wordsOf = (message: Message): string => `"${shown(messageWords(message))}"`;

const shown = (text: string): string => firstWords(text, shownColumns);

const shownColumns = 60;

const named = ({ name, digest }: OfferedTool): readonly [string, string] => [name, digest];

const namesOf = (tools: ReadonlyMap<string, string>): string => shown([...tools.keys()].join(", "));
