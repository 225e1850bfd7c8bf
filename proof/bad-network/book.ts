import type { Entry } from "@colloquy/machine";

import type { EnvelopeState } from "../kit/store-checks.ts";

/** A record of the attempts of store users, and of the acknowledgements that they got, noted at the moment of each. */
export class Book {
  readonly violations: string[] = [];
  /** By the tag of each entry, which is drawn once. */
  readonly #entries = new Map<string, Noted>();
  /** The number of the newest acknowledged snapshot of a thread, unless a rewrite began since. */
  readonly #snapshots = new Map<string, number>();
  readonly #envelopes = new Map<string, ReadonlyMap<string, EnvelopeState>>();
  acknowledged = 0;
  failures = 0;
  /** Appends that were not acknowledged, and turned out to be there when they were tried again. */
  recognised = 0;

  appending(threadId: string, tag: string, seq: number): void {
    this.#entries.set(tag, { threadId, seq, isThere: false, attempted: 0, kept: 0 });
  }

  appended(tag: string): void {
    this.acknowledged += 1;
    this.#entry(tag).isThere = true;
  }

  rewriting(threadId: string, tag: string): number {
    this.#snapshots.delete(threadId);
    return (this.#entry(tag).attempted += 1);
  }

  rewritten(tag: string, version: number): void {
    this.acknowledged += 1;
    this.#entry(tag).kept = version;
  }

  snapshot(threadId: string, number: number): void {
    this.acknowledged += 1;
    this.#snapshots.set(threadId, number);
  }

  envelope(threadId: string, id: string, state: EnvelopeState): void {
    if (state !== "discarding") this.acknowledged += 1;
    this.#envelopes.set(threadId, new Map(this.#envelopes.get(threadId)).set(id, state));
  }

  /** Entries that are known to be there, of one writer. */
  thereOf(threadId: string, owner: string): readonly { readonly tag: string; readonly seq: number }[] {
    return [...this.#entries]
      .filter(([tag, noted]) => noted.isThere && noted.threadId === threadId && tag.startsWith(`${owner}/`))
      .map(([tag, { seq }]) => ({ tag, seq }));
  }

  envelopesOf(threadId: string): ReadonlyMap<string, EnvelopeState> {
    return this.#envelopes.get(threadId) ?? new Map();
  }

  newestSnapshot(threadId: string): number | undefined {
    return this.#snapshots.get(threadId);
  }

  /** Returns the problems of a journal as it was read. Others may write to it meanwhile. */
  problemsOf(threadId: string, stored: readonly unknown[]): readonly string[] {
    const problems: string[] = [];
    const found = new Set<string>();
    let token = 0;
    for (const [index, each] of stored.entries()) {
      // A value of another shape has no tag, and was not written by any user of this run.
      const { seq, tag, version } = partsOf(each as Entry);
      const noted = this.#entries.get(tag);
      if (seq !== index) problems.push(`${threadId}: entry ${index} says that it is ${seq}`);
      if (noted?.threadId !== threadId) problems.push(`${threadId}: entry ${index}, ${tag}, was never written`);
      else if (noted.seq !== index) problems.push(`${threadId}: ${tag} was written as ${noted.seq}, and is ${index}`);
      else if (version > noted.attempted) problems.push(`${threadId}: version ${version} of ${tag} was never written`);
      if (found.has(tag)) problems.push(`${threadId}: ${tag} is there twice`);
      found.add(tag);
      const itsToken = Number(tag.split("/")[1]);
      if (itsToken < token) problems.push(`${threadId}: ${tag} was appended under a lease that was void`);
      token = itsToken;
    }
    return problems;
  }

  /** Returns the acknowledged entries that are missing from a journal, which was read at the end. */
  lostFrom(threadId: string, stored: readonly unknown[]): readonly string[] {
    return [...this.#entries].flatMap(([tag, noted]) => {
      if (noted.threadId !== threadId || !noted.isThere) return [];
      const entry = stored[noted.seq];
      const parts = entry === undefined ? null : partsOf(entry as Entry);
      if (parts?.tag !== tag)
        return [`${threadId}: ${tag} was acknowledged as ${noted.seq}, and ${parts?.tag ?? "nothing"} is there`];
      return parts.version < noted.kept
        ? [`${threadId}: version ${noted.kept} of ${tag} was acknowledged, and ${parts.version} is there`]
        : [];
    });
  }

  #entry(tag: string): Noted {
    const noted = this.#entries.get(tag);
    if (noted === undefined) throw new Error(`${tag} was not noted`);
    return noted;
  }
}

interface Noted {
  readonly threadId: string;
  readonly seq: number;
  /** It is known to be there. */
  isThere: boolean;
  /** Its newest version that was attempted, and that was acknowledged. */
  attempted: number;
  kept: number;
}

/** An entry that names who wrote it: the writer, the token of its lease, and a number. */
export const entryOf = (threadId: string, seq: number, tag: string, version: number): Entry =>
  seq === 0
    ? { seq, format: 2, event: { type: "thread.started", at: version, threadId, metadata: { tag } } }
    : { seq, event: { type: "checkpoint.named", at: version, name: tag } };

const partsOf = (entry: Entry): { readonly seq: number; readonly tag: string; readonly version: number } => {
  const { seq, event } = entry;
  const tag = event.type === "checkpoint.named" ? event.name : null;
  const started = event.type === "thread.started" ? event.metadata?.["tag"] : null;
  return { seq, tag: tag ?? (typeof started === "string" ? started : "nobody's"), version: event.at };
};
