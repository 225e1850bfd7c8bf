import { existsSync } from "node:fs";
import { countMessage, countPrompt } from "@colloquy/machine/policies";
import { type Message, messagesFromSeed, type SeedDraft, toolCallsOf } from "@colloquy/machine";
import { fromChatMessage } from "@colloquy/interchange";
import { describe, expect, test } from "vitest";
import { gptCounter } from "../../src/tokens/index.ts";
import {
  callsOf,
  type RecordedCase,
  recordedCases,
  recordingsFolder,
  type ReportedCall,
  type Wire,
} from "./recordings.ts";

const absent = !existsSync(recordingsFolder);

/** The models that report only the tokens that they were sent (without a hidden prompt, a search, or thoughts). */
const plainModel = /^gpt-(?:3\.5-turbo|4|4-turbo|4o|4o-mini|4\.1|4\.1-mini|4\.1-nano)(?:-\d{4}(?:-\d{2}-\d{2})?)?$/;

const cases = recordedCases().filter(({ model }) => plainModel.test(model ?? ""));

/** The reported prompt tokens of a call or of a part, and our count. */
interface Comparison {
  readonly reported: number;
  readonly counted: number;
}

describe.skipIf(absent)(
  `the usage that was reported${absent ? ` (skipped: ${recordingsFolder} does not exist; set COLLOQUY_RECORDINGS)` : ""}`,
  () => {
    test("for prompts of text equals the counter's", async () => {
      const compared = (await Promise.all(cases.filter(isPlain).map(comparePrompts))).flat();
      expect(shareOfEqual(compared)).toBeGreaterThanOrEqual(0.95);
      expect(totalError(compared)).toBeLessThan(0.01);
    });

    test("for a tool call and its result mostly equals the counter's", async () => {
      const compared = (
        await Promise.all(cases.filter(({ params }) => !params?.["functions"]).map(compareRounds))
      ).flat();
      expect(shareOfEqual(compared)).toBeGreaterThanOrEqual(0.75);
    });
  },
);

/** Checks that the prompt has only messages. */
const isPlain = ({ tools, params }: RecordedCase): boolean =>
  (tools ?? []).length === 0 && params?.["functions"] === undefined && params?.["response_format"] === undefined;

const comparePrompts = async (recorded: RecordedCase): Promise<readonly Comparison[]> => {
  const counter = await gptCounter({ model: recorded.model ?? "" });
  return callsOf(recorded).flatMap(({ messages: wires, reported }): Comparison[] => {
    const messages = messagesOf(wires);
    if (reported === null || messages === null || !messages.every(isText)) return [];
    return [{ reported, counted: countPrompt(counter, messages) }];
  });
};

/** Compares how much a tool's call and its answers add to the next prompt; the declared tools cancel out. */
const compareRounds = async (recorded: RecordedCase): Promise<readonly Comparison[]> => {
  const counter = await gptCounter({ model: recorded.model ?? "" });
  const calls = callsOf(recorded);
  return calls.slice(1).flatMap((call, index): Comparison[] => {
    const added = addedBetween(calls[index], call);
    if (added === null) return [];
    const counted = added.messages.reduce((sum, message) => sum + countMessage(counter, message), 0);
    return [{ reported: added.reported, counted }];
  });
};

const addedBetween = (
  before: ReportedCall | undefined,
  after: ReportedCall,
): { readonly messages: readonly Message[]; readonly reported: number } | null => {
  if (before === undefined || before.reported === null || after.reported === null) return null;
  const messages = messagesOf(after.messages.slice(before.messages.length));
  const [reply] = messages ?? [];
  if (messages === null || reply === undefined || toolCallsOf(reply).length !== 1) return null;
  // Tools that are no longer declared make a prompt shorter, and files make it longer.
  const reported = after.reported - before.reported;
  return messages.every(isTextOrTool) && reported > 0 ? { messages, reported } : null;
};

/** Decodes messages; null if they are not a conversation. */
const messagesOf = (wires: readonly Wire[]): readonly Message[] | null => {
  const drafts: SeedDraft[] = [];
  for (const wire of wires) {
    const draft = fromChatMessage(wire);
    if (!("right" in draft)) return null;
    drafts.push(draft.right);
  }
  const messages = messagesFromSeed(1, drafts);
  return "right" in messages ? messages.right : null;
};

const isText = ({ parts, name }: Message): boolean => name === undefined && parts.every(({ type }) => type === "text");

const isTextOrTool = ({ parts }: Message): boolean =>
  parts.every((part) =>
    part.type === "toolResult"
      ? part.content.every(({ type }) => type === "text")
      : /^(?:text|toolCall)$/.test(part.type),
  );

/** Returns the share of equal counts; 1 if there are none. */
const shareOfEqual = (compared: readonly Comparison[]): number =>
  compared.length === 0 ? 1 : compared.filter(({ reported, counted }) => reported === counted).length / compared.length;

const totalError = (compared: readonly Comparison[]): number => {
  const reported = compared.reduce((sum, each) => sum + each.reported, 0);
  return reported === 0 ? 0 : Math.abs(compared.reduce((sum, each) => sum + each.counted, 0) / reported - 1);
};
