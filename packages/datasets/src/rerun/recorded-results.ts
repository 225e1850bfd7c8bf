import {
  canonicalText,
  type ContentPart,
  textOf,
  toArray,
  toolCallsOf,
  toolResultOf,
  type Turn,
} from "@colloquy/machine";

/** What a tool answered in a recording. */
export interface RecordedResult {
  readonly outcome: "completed" | "failed";
  readonly content: readonly ContentPart[];
  readonly text: string;
}

/** The results of a recorded conversation, by their calls: the same tool with the same arguments, whatever their order and spacing. */
export class RecordedResults {
  readonly #results: readonly KeyedResult[];
  #turn = 0;
  readonly #taken = new Map<string, number>();

  constructor(turns: readonly Turn[]) {
    this.#results = turns.flatMap(resultsOf);
  }

  /** From here on the results of this turn come first. */
  beginTurn(turn: number): void {
    this.#turn = turn;
    this.#taken.clear();
  }

  /**
   * What such a call came to: in this turn, each result once in its order, the last one again where it is called more often;
   * else the newest of the turns before. Null where the recording has none that a tool gave.
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
    // Words of the machine in a tool's place are no result.
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
