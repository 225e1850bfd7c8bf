import * as Either from "fp-ts/lib/Either.js";
import type { JsonObject, ContentPart, ToolCallDraft } from "@colloquy/machine";
import { type AiOptions, fieldsOfOptions } from "./provider-options.ts";
import { partOfAiText, reasoningOfAi, replyPartOfAiText } from "./text.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { foreignPart, presentOf } from "../exchange/foreign.ts";
import { eachItem, type ImportProblem, shaped } from "../exchange/import-problem.ts";
import { type Lose, loseIn, loseRest } from "../exchange/loss.ts";
import { orRepair } from "../exchange/pairing.ts";
import { notebook, type Notebook, type Reading } from "../exchange/piece.ts";
import { type MessageFields, plainText, replyDraft, type ReplyPart } from "../exchange/reply-draft.ts";
import { readUiParts, uiMessage, type UiPart, type UiReasoning, type UiText, type UiTool } from "./ui-message.ts";
import { partOfUiFile } from "./ui-part.ts";
import { callOfTool, resultOfTool } from "./ui-tool.ts";

/** Reads the AI SDK's messages for people. */
export const readUiMessages = (messages: unknown): Either.Either<ImportProblem, Reading> =>
  Either.map((list: readonly Read[]): Reading => {
    const book = notebook();
    for (const [index, message] of list.entries()) {
      const { id, role, metadata, parts } = message;
      const lose = book.loseAt(index);
      loseRest(lose, "", message.rest, "UI messages are not known to have it");
      if (metadata !== undefined && metadata !== null && !isJsonObject(metadata))
        lose("metadata", "metadata", "a thread keeps metadata that is an object");
      const outer: Outer = { id, metadata: isJsonObject(metadata) ? metadata : undefined };
      if (role === "assistant") readSteps(parts, outer, index, book);
      else readInput(role, parts, outer, index, book);
    }
    return book;
  })(
    eachItem<Read>(messages, "UI messages", (item, index) =>
      Either.chain(({ id, role, parts, metadata, ...rest }: ReturnType<typeof uiMessage.parse>) =>
        // Zod passes unknown fields through, and they were JSON before.
        Either.map((read: readonly UiPart[]): Read => ({ id, role, metadata, rest, parts: read }))(
          readUiParts(parts as readonly JsonObject[], index),
        ),
      )(shaped(uiMessage, item, index, "a UI message")),
    ),
  );

interface Read {
  readonly id: string | undefined;
  readonly role: "system" | "user" | "assistant";
  readonly metadata: unknown;
  readonly rest: object;
  readonly parts: readonly UiPart[];
}

/** The fields of a UI message itself. */
interface Outer {
  readonly id: string | undefined;
  readonly metadata: JsonObject | undefined;
}

const readInput = (
  role: "system" | "user",
  parts: readonly UiPart[],
  outer: Outer,
  index: number,
  { add, loseAt }: Notebook,
): void => {
  const content = parts.flatMap((part, place) => contentOf(part, at(loseAt(index), place)));
  const fields = fieldsOf(parts, outer);
  add(index, {
    role: fields.developer && role === "system" ? "developer" : role,
    content: plainText(content) ?? content,
    ...fields.said,
  });
};

/** Reads each step of a model as a reply with its results. A user message in between becomes its own message. */
const readSteps = (parts: readonly UiPart[], outer: Outer, index: number, book: Notebook): void => {
  let step: Step[] = [];
  let left: Outer = outer;
  const flush = (): void => {
    if (step.length > 0) {
      readStep(step, left, index, book);
      left = { id: undefined, metadata: undefined };
    }
    step = [];
  };
  for (const [place, part] of parts.entries()) {
    if (part.kind === "step") flush();
    else if (part.kind === "steering") {
      flush();
      const lose = at(book.loseAt(index), place);
      lose("", "that the user said it while the model was at work", "it is a user's message, in its place");
      const content = part.parts.flatMap((inner) => contentOf(inner, lose));
      book.add(index, { role: "user", content: plainText(content) ?? content });
    } else step.push({ part, place });
  }
  flush();
  if (left === outer) book.loseAt(index)("", "the message", "it says nothing");
};

interface Step {
  readonly part: UiPart;
  readonly place: number;
}

const readStep = (step: readonly Step[], outer: Outer, index: number, book: Notebook): void => {
  const parts: ReplyPart[] = [];
  const calls: ToolCallDraft[] = [];
  const results: (() => void)[] = [];
  for (const { part, place } of step) {
    const lose = at(book.loseAt(index), place);
    if (part.kind === "tool" && part.part.providerExecuted !== true) {
      if (isHalfCall({ part })) {
        book.mend(halfCall(part.part, part.name, index));
        continue;
      }
      const call = callOfTool(part.part, part.name, part.value["type"]);
      calls.push(call);
      results.push(() => readResult(part.part, call.id, index, lose, book));
      continue;
    }
    const said = replyParts(part, lose);
    if (calls.length > 0 && said.length > 0)
      lose("", "its place behind a call", "a reply says what it says first, and calls last");
    parts.push(...said);
  }
  // If a step held only an unfinished call, the repair leaves nothing of it.
  if (parts.length === 0 && calls.length === 0 && step.some(isHalfCall)) return;
  book.add(
    index,
    replyDraft(
      parts,
      calls,
      fieldsOf(
        step.map(({ part }) => part),
        outer,
      ).said,
    ),
  );
  for (const result of results) result();
};

const readResult = (part: UiTool, id: string | null, index: number, lose: Lose, { add }: Notebook): void => {
  const result = resultOfTool(part);
  if (result === null) return;
  const { own, provider } = fieldsOfOptions(part.resultProviderMetadata);
  if (provider !== undefined) lose("resultProviderMetadata", "fields of its provider", "a result has none");
  const ended = typeof own["outcome"] === "string" ? own["outcome"] : result.outcome;
  if (ended !== "completed") lose("state", `the outcome "${ended}"`, "its content stands for it");
  add(index, { role: "tool", toolCallId: id, content: result.content });
};

const isHalfCall = ({ part }: Pick<Step, "part">): boolean =>
  part.kind === "tool" && part.part.providerExecuted !== true && part.part.state === "input-streaming";

const halfCall = ({ toolCallId }: UiTool, name: string, index: number) => ({
  index,
  reason: `call ${JSON.stringify(toolCallId)} of ${JSON.stringify(name)} in item ${index} was still being written: leave it out${orRepair}`,
  repair: {
    index,
    path: "",
    what: `call ${JSON.stringify(toolCallId)} of ${JSON.stringify(name)}`,
    why: "it was still being written",
  },
});

const replyParts = (part: UiPart, lose: Lose): readonly ReplyPart[] => {
  if (part.kind === "reasoning") return [reasoningOf(part.part, lose)];
  return part.kind === "text" && !isEmptied(part.part)
    ? [withUi(replyPartOfAiText(part.part.text, part.part.providerMetadata), textFields(part.part, lose))]
    : contentOf(part, lose);
};

const contentOf = (part: UiPart, lose: Lose): readonly ContentPart[] => {
  switch (part.kind) {
    case "text":
      return isEmptied(part.part)
        ? []
        : [withUi(partOfAiText(part.part.text, part.part.providerMetadata), textFields(part.part, lose))];
    case "file":
      return [partOfUiFile(part.part, part.value, lose)];
    case "other":
    case "tool":
      return [foreignPart("ui", part.value)];
    case "reasoning":
      lose("", "reasoning", "only a model's message has some");
      return [];
    case "steering":
    case "step":
      return [];
  }
};

const reasoningOf = (part: UiReasoning, lose: Lose): ReplyPart => {
  loseState(part.state, lose);
  return withUi(reasoningOfAi(part.text, part.providerMetadata), presentOf({ id: part.id }));
};

const textFields = (part: UiText, lose: Lose): JsonObject => {
  loseState(part.state, lose);
  return presentOf({ citations: part.citations });
};

const loseState = (state: string | undefined, lose: Lose): void => {
  if (state === "streaming") lose("state", "that it was still being written", "a thread has no mark for that");
};

/** Returns whether a text is the marker for a message without parts. */
const isEmptied = ({ text, providerMetadata }: UiText): boolean =>
  text === "" && fieldsOfOptions(providerMetadata).own["empty"] === true;

const withUi = <Part extends ReplyPart>(part: Part, ui: JsonObject): Part =>
  Object.keys(ui).length === 0 || part.type === "data"
    ? part
    : { ...part, provider: { ...("provider" in part ? part.provider : {}), ui } };

/**
 * Returns the fields of a message beside its parts. Ids that a thread created are dropped, since a thread creates new
 * ones.
 */
const fieldsOf = (
  parts: readonly UiPart[],
  { id, metadata }: Outer,
): { readonly said: MessageFields; readonly developer: boolean } => {
  const message = parts.map(carriedBy).find((fields) => fields !== undefined) ?? {};
  const { name, provider, role } = message;
  const kept = isJsonObject(provider) ? provider : undefined;
  const ui = id === undefined || isThreadsOwn(id) ? undefined : { ui: { id } };
  return {
    said: {
      ...(typeof name === "string" ? { name } : {}),
      ...(metadata === undefined ? {} : { metadata }),
      ...(kept === undefined && ui === undefined ? {} : { provider: { ...kept, ...ui } }),
    },
    developer: role === "developer",
  };
};

const carriedBy = (part: UiPart): JsonObject | undefined => {
  if (part.kind !== "text" && part.kind !== "reasoning" && part.kind !== "file") return undefined;
  const options: AiOptions | undefined = part.part.providerMetadata;
  const { message } = fieldsOfOptions(options).own;
  return isJsonObject(message) ? message : undefined;
};

const isThreadsOwn = (id: string): boolean => /^(s\d+|\d+\.\d+)$/.test(id);

const at = (lose: Lose, place: number): Lose => loseIn(lose, `parts.${place}`);
