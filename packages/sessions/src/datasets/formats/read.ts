import type { Entry, Event, JsonObject, SeedDraft } from "@colloquy/machine";
import { checkOptions, kinds, type OptionKinds } from "@colloquy/host/store";
import { fromChatMessages, type Imported, type Loss } from "@colloquy/interchange";
import * as Either from "fp-ts/lib/Either.js";
import { journalOf } from "../../turns/journal.ts";
import { type DatasetRow, readRow, type RowFormat } from "./row.ts";

export interface ImportDatasetOptions {
  /**
   * `sft`, `dpo`: OpenAI's formats. `trl`: `messages`, `prompt` and `completion`, or `prompt`, `chosen` and `rejected`.
   */
  readonly from: RowFormat;
  /** Returns the id of a line's thread; lines count from 1. Default `line-1` and so on. */
  readonly threadId?: (line: number) => string;
  /** The creation time of the threads, in milliseconds since the epoch. Default 0. */
  readonly at?: number;
}

export interface ImportedDataset {
  /** One journal for each line that could be read. */
  readonly threads: readonly { readonly line: number; readonly entries: readonly Entry[] }[];
  /** Lines that could not be read, with the reason. */
  readonly problems: readonly { readonly line: number; readonly reason: string }[];
  /** Data that a thread cannot contain. */
  readonly losses: readonly (Loss & { readonly line: number })[];
}

/**
 * Reads threads from a data set in JSON lines. Each line becomes a journal whose turns were added whole. Preferred and
 * rejected replies become two branches of one turn, annotated with `score` 1 and 0. The threads keep everything that is
 * needed to write the same line again. Tools are the thread's metadata `tools`, `parallel_tool_calls` is its model
 * parameter, and `weight: 0` is metadata of the message. Pure; an unreadable line does not stop the others.
 *
 * @throws ConfigurationError for an unknown option or format.
 */
export const importDataset = (text: string, options: ImportDatasetOptions): ImportedDataset => {
  checkOptions("importDataset", options, optionKinds);
  const { from, threadId = (line) => `line-${line}`, at = 0 } = options;
  const threads: { readonly line: number; readonly entries: readonly Entry[] }[] = [];
  const problems: { readonly line: number; readonly reason: string }[] = [];
  const losses: (Loss & { readonly line: number })[] = [];
  for (const [index, each] of text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .entries()) {
    if (each.trim() === "") continue;
    const line = index + 1;
    const thread = Either.chain((row: DatasetRow) => threadOf(row, { threadId: threadId(line), at }))(
      Either.chain((value: unknown) => readRow(value, from))(jsonIn(each)),
    );
    if (Either.isLeft(thread)) {
      problems.push({ line, reason: thread.left });
      continue;
    }
    threads.push({ line, entries: thread.right.entries });
    losses.push(...thread.right.losses.map((loss) => ({ ...loss, line })));
  }
  return { threads, problems, losses };
};

const optionKinds: OptionKinds<ImportDatasetOptions> = {
  from: kinds.needed(kinds.oneOf("sft", "dpo", "trl")),
  threadId: kinds.call,
  at: kinds.whole(0),
};

const jsonIn = (line: string): Either.Either<string, unknown> => {
  try {
    return Either.right(JSON.parse(line));
  } catch {
    return Either.left(`it is not JSON: ${JSON.stringify(line.slice(0, 60))}`);
  }
};

interface Begun {
  readonly threadId: string;
  readonly at: number;
}

const threadOf = (
  row: DatasetRow,
  begun: Begun,
): Either.Either<string, { readonly entries: readonly Entry[]; readonly losses: readonly Loss[] }> => {
  const [first, second] = row.conversations.map(({ messages, weights }) =>
    Either.bimap(
      ({ reason }: { readonly reason: string }) => reason,
      (imported: Imported) => ({ ...imported, turns: withWeights(imported.turns, weights) }),
    )(fromChatMessages(messages)),
  );
  if (first === undefined || Either.isLeft(first)) return first ?? Either.left("it has no messages");
  if (second !== undefined && Either.isLeft(second)) return second;
  const { system, turns, losses } = first.right;
  const other = second?.right.turns.at(-1);
  const { at } = begun;
  const before = turns.length - 1;
  const events: readonly Event[] = [
    ...turns.map((messages): Event => ({ type: "turn.added", at, messages })),
    ...(other === undefined
      ? []
      : ([
          { type: "turn.annotated", at, turn: before + 1, name: "score", value: 1 },
          { type: "head.moved", at, to: before },
          { type: "turn.added", at, messages: other },
          { type: "turn.annotated", at, turn: before + 2, name: "score", value: 0 },
          { type: "head.moved", at, to: before + 1 },
        ] satisfies readonly Event[])),
  ];
  const metadata: JsonObject = row.tools.length === 0 ? {} : { tools: row.tools };
  return Either.map((entries: readonly Entry[]) => ({ entries, losses: [...row.losses, ...losses] }))(
    journalOf({ ...begun, ...(system === null ? {} : { system }), metadata, model: row.model }, events),
  );
};

/** Adds the weights to messages; the readers of messages keep their order, but drop unknown members. */
const withWeights = (
  turns: readonly (readonly SeedDraft[])[],
  weights: readonly boolean[],
): readonly (readonly SeedDraft[])[] => {
  let reply = 0;
  return turns.map((drafts) =>
    drafts.map((draft) => {
      if (draft.role !== "assistant") return draft;
      return weights[reply++] === false ? { ...draft, metadata: { weight: 0 } } : draft;
    }),
  );
};
