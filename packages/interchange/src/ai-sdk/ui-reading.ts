import * as Either from "fp-ts/lib/Either.js";
import type { JsonObject, ContentPart, ToolCallDraft } from "@colloquy/machine";
import { type AiOptions, fieldsOfOptions } from "./provider-options.ts";
import { partOfAiText, reasoningOfAi, replyPartOfAiText } from "./text.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { foreignPart, presentOf } from "../exchange/foreign.ts";
import { eachItem, type ImportProblem, shaped } from "../exchange/import-problem.ts";
import { type Lose, loseRest } from "../exchange/loss.ts";
import { orRepair } from "../exchange/pairing.ts";
import { notebook, type Notebook, type Reading } from "../exchange/piece.ts";
import { type MessageFields, replyDraft, type ReplyPart } from "../exchange/reply-draft.ts";
import { readUiParts, uiMessage, type UiPart, type UiReasoning, type UiText, type UiTool } from "./ui-message.ts";
import { partOfUiFile } from "./ui-part.ts";
import { callOfTool, resultOfTool } from "./ui-tool.ts";

/** Reads the messages that the AI SDK shows to people. */
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
        // What zod lets through beside the known fields was JSON before.
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

/** What a UI message says of itself. */
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
    content: simple(content),
    ...fields.said,
  });
};

/** A single plain text as it stands, as other formats have it. */
const simple = (content: readonly ContentPart[]): string | readonly ContentPart[] => {
  const [only, second] = content;
  return second === undefined && only?.type === "text" && only.text !== "" && !("provider" in only)
    ? only.text
    : content;
};

/** Each step of a model is a reply with its results; what a user said in between is a message of its own. */
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
      book.add(index, { role: "user", content: simple(part.parts.flatMap((inner) => contentOf(inner, lose))) });
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
  // Where all that there was of a step was half a call, a repair leaves nothing of it.
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

/** A text that stands for no part at all. */
const isEmptied = ({ text, providerMetadata }: UiText): boolean =>
  text === "" && fieldsOfOptions(providerMetadata).own["empty"] === true;

const withUi = <Part extends ReplyPart>(part: Part, ui: JsonObject): Part =>
  Object.keys(ui).length === 0 || part.type === "data"
    ? part
    : { ...part, provider: { ...("provider" in part ? part.provider : {}), ui } };

/** What a message has beside its parts. Ids that a thread made are its own, and made anew. */
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

const at =
  (lose: Lose, place: number): Lose =>
  (path, what, why) =>
    lose(path === "" ? `parts.${place}` : `parts.${place}.${path}`, what, why);
