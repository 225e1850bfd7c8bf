import type { ShownPart } from "@colloquy/host/perform";
import type { EngineNews } from "@colloquy/host/store";
import type { HubMessage } from "./hub.ts";

/** What is heard of a thread by a hub. It becomes news, and entries that were heard need not be read. */
export class FollowedThread {
  readonly #tell: (news: EngineNews) => void;
  /** The newest entries that were heard, one after the other. */
  #entries: HeardEntries = [];
  /** Whether some of them were not read yet. */
  #hasNew = false;
  /** The runs of each effect, the newest last. */
  readonly #runs = new Map<string, readonly string[]>();

  constructor(tell: (news: EngineNews) => void) {
    this.#tell = tell;
  }

  hear(message: HubMessage): void {
    if (message.type === "shown") {
      if (this.#isOfNewest(message)) this.#show(message.parts);
      return;
    }
    this.#keep(message.entries);
    // What it shows was shown before it was journalled, where it is a delta; else it is shown with its entry.
    this.#tell({ type: "entries" });
    this.#show(message.parts);
  }

  /** The entries from a seq on, where all of them were heard and some were not read yet; else null. */
  unread(from: number): HeardEntries | null {
    const first = this.#entries[0]?.seq;
    if (!this.#hasNew || first === undefined || from < first) return null;
    this.#hasNew = false;
    return this.#entries.slice(from - first);
  }

  #keep(heard: HeardEntries): void {
    const next = (this.#entries.at(-1)?.seq ?? -1) + 1;
    // Words that were taken out stand in entries that were heard before.
    const goesOn = heard[0]?.seq === next && !heard.some(({ event }) => event.type === "thread.redacted");
    this.#entries = [...(goesOn ? this.#entries : []), ...heard].slice(-heardMost);
    this.#hasNew = heard.length > 0;
  }

  #show(parts: readonly ShownPart[]): void {
    for (const { turn, part } of parts) this.#tell({ type: "part", turn, part });
  }

  /** What a run showed is void when another begins: its process is gone, or believed to be. */
  #isOfNewest({ effectId, run, parts }: Extract<HubMessage, { readonly type: "shown" }>): boolean {
    const runs = this.#runs.get(effectId) ?? [];
    if (runs.includes(run)) return runs.at(-1) === run;
    this.#runs.set(effectId, [...runs, run]);
    const [first] = parts;
    if (runs.length > 0 && first !== undefined && "step" in first.part) {
      const { turn } = first;
      this.#show([
        { turn, part: { type: "thread.lost", turn } },
        { turn, part: { type: "step.started", turn, step: first.part.step } },
      ]);
    }
    return true;
  }
}

type HeardEntries = Extract<HubMessage, { readonly type: "stored" }>["entries"];

/** How many entries are kept: a follower that is further behind reads. */
const heardMost = 256;
