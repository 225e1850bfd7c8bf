import { decodeJournal } from "@colloquy/machine/journal";
import { replay } from "@colloquy/machine/inspect";
import type { Entry } from "@colloquy/machine";
import { differenceOf, lawRecovery } from "@colloquy/runtime-test/laws";
import * as Either from "fp-ts/lib/Either.js";
import type { Held } from "./conversation.ts";
import type { Simulated } from "./engine.ts";

/**
 * Holds a conversation on the engine against the same one on a host in memory: the journal is the same, times aside, or what
 * differs follows from an entry that is marked `recovered`, as the law of recovery says.
 *
 * @throws LawBroken, or an Error that says what is wrong
 */
export const judge = ({ journal, results, world, restate }: Simulated, expected: Held): void => {
  const decoded = decodeJournal(JSON.parse(JSON.stringify(journal)));
  if (Either.isLeft(decoded)) throw new Error(`it can't be read: ${JSON.stringify(decoded.left)}`);
  const replayed = replay(world.machine, decoded.right);
  if (Either.isLeft(replayed)) throw new Error(`it replays otherwise: ${JSON.stringify(replayed.left)}`);
  const [uncrashed, resumed] = [inOneOrder(expected.journal), inOneOrder(journal)];
  const tools = world.tools.map(({ declaration }) => declaration);
  // Shown text is lost with its worker, and so is its part in the next prompts.
  if (!world.isShown || restate.struck === 0) lawRecovery({ uncrashed, resumed, tools, ran: world.ran });
  const asked = journal.flatMap(({ event }) => (event.type === "ask.received" ? [event.askId] : []));
  if (new Set(asked).size < asked.length) throw new Error(`an ask is journalled twice: ${asked.join(", ")}`);
  if (!journal.some((entry) => "recovered" in entry)) {
    const difference = differenceOf(expected.results, results);
    if (difference !== null) throw new Error(`somebody had another result: ${difference}`);
  }
  const kept = journal.filter(({ event }) => event.type === "thread.redacted").length;
  const words = [...restate.stateOf("t").values()].filter((text) => text.includes("redact "));
  if (kept > 0 && words.length > 0) throw new Error(`what was redacted is still there: ${words[0]}`);
};

/** The answers of tools that run at the same time, in the order of their calls: which of them comes first is nobody's choice. */
const inOneOrder = (journal: readonly Entry[]): readonly Entry[] => {
  const ordered = [...journal];
  for (let from = 0; from < ordered.length; from += 1) {
    let end = from;
    while (placeOf(ordered[end]) !== null) end += 1;
    const answers = ordered
      .slice(from, end)
      .sort((one, other) => ((placeOf(one) ?? "") < (placeOf(other) ?? "") ? -1 : 1));
    ordered.splice(from, answers.length, ...answers);
    from = Math.max(from, end);
  }
  // In another place it is the same entry: nothing was decided about it that hangs on the others.
  return ordered.map((entry, index) => ({ ...withoutDuration(entry), seq: journal[index]?.seq ?? index }) as Entry);
};

/** How long a turn took until its deadline is left out, as times are. */
const withoutDuration = (entry: Entry): object => {
  const decided = "decided" in entry ? entry.decided : undefined;
  return decided?.limit?.limit === "deadlineMs"
    ? { ...entry, decided: { ...decided, limit: { ...decided.limit, reached: 0 } } }
    : entry;
};

/** All of one call, and then all of the next. */
const placeOf = (entry: Entry | undefined): string | null => {
  switch (entry?.event.type) {
    case "tool.started":
      return `${entry.event.effectId} 1`;
    case "tool.completed":
    case "tool.failed":
      return `${entry.event.effectId} 2`;
    default:
      return null;
  }
};
