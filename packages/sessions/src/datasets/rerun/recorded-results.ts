import {
  canonicalText,
  type ContentPart,
  textOf,
  toArray,
  toolCallsOf,
  toolResultOf,
  type Turn,
} from "@colloquy/machine";

/** A tool's answer in a recording. */
export interface RecordedResult {
  readonly outcome: "completed" | "failed";
  readonly content: readonly ContentPart[];
  readonly text: string;
}

/**
 * The results of a recorded conversation, by their calls. Calls match if they have the same tool and the same
 * arguments, ignoring order and spacing.
 */
export class RecordedResults {
  readonly #results: readonly KeyedResult[];
  #turn = 0;
  readonly #taken = new Map<string, number>();

  constructor(turns: readonly Turn[]) {
    this.#results = turns.flatMap(resultsOf);
  }

  /** Makes the results of this turn come first from now on. */
  beginTurn(turn: number): void {
    this.#turn = turn;
    this.#taken.clear();
  }

  /**
   * Returns the result of a matching call. Within this turn, each result is used once, in order, and the last one is
   * repeated for further calls. Otherwise it is the newest result of earlier turns. Null if the recording has no result
   * from a tool.
   */
  take(name: string, given: string): RecordedResult | null {
    const key = keyOf(name, given);
    const same = this.#results.filter((each) => each.key === key);
    const here = same.filter(({ turn }) => turn === this.#turn);
    const taken = this.#taken.get(key) ?? 0;
    this.#taken.set(key, taken + 1);
    return here[taken] ?? here.at(-1) ?? same.findLast(({ turn }) => turn < this.#turn) ?? null;
  }
}

interface KeyedResult extends RecordedResult {
  readonly key: string;
  readonly turn: number;
}

const resultsOf = ({ number, messages }: Turn): readonly KeyedResult[] => {
  const said = toArray(messages);
  const calls = new Map(said.flatMap(toolCallsOf).map((call) => [call.callId, call]));
  return said.flatMap((message) => {
    const result = toolResultOf(message);
    const call = result === undefined ? undefined : calls.get(result.callId);
    // A result that the machine synthesised does not count.
    if (result === undefined || call === undefined || message.synthesised === true) return [];
    const { outcome, content } = result;
    if (outcome !== "completed" && outcome !== "failed") return [];
    return [{ key: keyOf(call.name, call.arguments), turn: number, outcome, content, text: textOf(message) }];
  });
};

const keyOf = (name: string, given: string): string => `${name} ${canonicalArguments(given)}`;

const canonicalArguments = (given: string): string => {
  try {
    return canonicalText(JSON.parse(given));
  } catch {
    return given;
  }
};
