import { type Written, writtenIn } from "./contents.ts";

/** An action of a store's user; types in -ing announce one. Plain data, so that a process can report it. */
export type Note = { readonly threadId: string } & (
  | { readonly type: "appending" | "appended"; readonly entries: readonly Appended[] }
  | { readonly type: "rewriting" | "rewritten"; readonly tag: string; readonly version: number }
  | { readonly type: "saving" | "saved"; readonly number: number }
  | { readonly type: ItemState; readonly id: string }
  | { readonly type: "deleting" | "deleted" }
);

interface Appended {
  readonly seq: number;
  readonly tag: string;
  /** The tag of the previous entry; null for the first. */
  readonly after: string | null;
}

/** The known state of an inbox item. In a state in -ing it may exist or not. */
export type ItemState = (typeof itemStates)[number];

const itemStates = ["posting", "posted", "answering", "answered", "discarding", "discarded"] as const;

export class Book {
  readonly #threads = new Map<string, ThreadBook>();
  acknowledged = 0;

  of(threadId: string): ThreadBook {
    const known = this.#threads.get(threadId) ?? new ThreadBook(threadId);
    this.#threads.set(threadId, known);
    return known;
  }

  note(note: Note): void {
    if (!note.type.endsWith("ing")) this.acknowledged += "entries" in note ? note.entries.length : 1;
    this.of(note.threadId).note(note);
  }
}

interface Noted extends Appended {
  /** The tag of its journal's first entry, and of the first entry in its append. */
  readonly root: string;
  readonly batch: string;
  readonly size: number;
  isThere: boolean;
  /** Its newest attempted version, and its newest acknowledged one. */
  attempted: number;
  kept: number;
}

export class ThreadBook {
  readonly items = new Map<string, ItemState>();
  readonly #threadId: string;
  readonly #entries = new Map<string, Noted>();
  /** The newest attempted and the newest stored snapshot, and the last ones that are void or may be. */
  readonly #snapshot = { attempted: 0, kept: 0, void: 0, mayBeVoid: 0 };
  #mayBeDeleted = false;

  constructor(threadId: string) {
    this.#threadId = threadId;
  }

  note(note: Note): void {
    const { type } = note;
    if ("id" in note) this.#noteItem(note.id, note.type);
    else if ("tag" in note) this.#noteVersion(note);
    else if ("number" in note) this.#noteSnapshot(note);
    else if (type === "appending") this.#appending(note.entries);
    else if (type === "appended") this.#appended(note.entries);
    else this.#noteDeletion(type === "deleted");
  }

  #noteItem(id: string, state: ItemState): void {
    const before = this.items.get(id);
    // Another user may have answered it before its poster knew that it was stored.
    if (before === undefined || itemStates.indexOf(before) < itemStates.indexOf(state)) this.items.set(id, state);
  }

  #noteVersion({ type, tag, version }: Extract<Note, { readonly tag: string }>): void {
    const noted = this.#entries.get(tag);
    const which = type === "rewriting" ? "attempted" : "kept";
    if (noted !== undefined) noted[which] = Math.max(noted[which], version);
    // Rewriting a thread removes its snapshot.
    this.#voidSnapshots(type === "rewritten");
  }

  #noteSnapshot({ type, number }: Extract<Note, { readonly number: number }>): void {
    if (type === "saving") this.#snapshot.attempted = number;
    else if (number > this.#snapshot.mayBeVoid) this.#snapshot.kept = number;
  }

  #voidSnapshots(isCertain: boolean): void {
    const snapshot = this.#snapshot;
    if (isCertain) snapshot.void = snapshot.mayBeVoid;
    else Object.assign(snapshot, { kept: 0, mayBeVoid: snapshot.attempted });
  }

  #appending(entries: readonly Appended[]): void {
    const batch = entries[0]?.tag ?? "";
    for (const entry of entries) {
      const root = entry.after === null ? entry.tag : (this.#entries.get(entry.after)?.root ?? "");
      const fresh = { isThere: false, attempted: 0, kept: 0 };
      this.#entries.set(entry.tag, { ...entry, root, batch, size: entries.length, ...fresh });
    }
  }

  /** Marks the entries of an append and all before them as stored. */
  #appended(entries: readonly Appended[]): void {
    for (
      let noted = this.#entries.get(entries.at(-1)?.tag ?? "");
      noted?.isThere === false;
      noted = this.#entries.get(noted.after ?? "")
    )
      noted.isThere = true;
    if (entries[0]?.after !== null) return;
    // The thread started again, so the entries of an earlier one are gone.
    for (const [tag, { root }] of this.#entries) if (root !== entries[0].tag) this.#entries.delete(tag);
    this.#voidSnapshots(false);
    this.#voidSnapshots(true);
    this.#mayBeDeleted = false;
  }

  #noteDeletion(isDone: boolean): void {
    this.#mayBeDeleted = !isDone;
    this.#voidSnapshots(false);
    if (isDone) this.#voidSnapshots(true);
    if (isDone) this.#entries.clear();
    for (const id of this.items.keys()) this.items.set(id, isDone ? "discarded" : "discarding");
  }

  expected(): ReadonlyMap<string, number> {
    return new Map([...this.#entries].filter(([, { isThere }]) => isThere).map(([tag, { kept }]) => [tag, kept]));
  }

  /** Returns the problems of a journal that was read. Others may write to it meanwhile. */
  problemsOf(stored: readonly unknown[], expected: ReadonlyMap<string, number> = this.expected()): readonly string[] {
    const found = stored.map((entry) => writtenIn(this.#threadId, entry));
    const tags = new Map<string, Written>();
    const problems = found.flatMap((written, seq) => {
      if (written === null) return [`entry ${seq} is torn`];
      const twice = tags.has(written.tag) ? [`${written.tag} is there twice`] : [];
      tags.set(written.tag, written);
      return [...twice, ...this.#entryProblems(written, seq, seq === 0 ? null : (found[seq - 1]?.tag ?? null))];
    });
    return [...problems, ...this.#partProblems(tags), ...this.#lost(found, tags, expected)];
  }

  #entryProblems({ tag, version, seq }: Written, place: number, before: string | null): readonly string[] {
    const noted = this.#entries.get(tag);
    if (noted === undefined) return [`entry ${place}, ${tag}, was never written`];
    return [
      ...(seq === place ? [] : [`entry ${place} says that it is ${seq}`]),
      ...(noted.seq === place ? [] : [`${tag} was written as ${noted.seq}, and is ${place}`]),
      ...(noted.after === before ? [] : [`${tag} was written after ${noted.after}, and stands after ${before}`]),
      ...(version <= noted.attempted ? [] : [`version ${version} of ${tag} was never written`]),
      ...(tokenIn(tag) >= tokenIn(before ?? "") ? [] : [`${tag} was appended under a lease that was void`]),
    ];
  }

  /** Checks that each append is stored whole or not at all. */
  #partProblems(tags: ReadonlyMap<string, Written>): readonly string[] {
    const noted = [...tags.keys()].flatMap((tag) => this.#entries.get(tag) ?? []);
    return [...Map.groupBy(noted, ({ batch }) => batch)].flatMap(([batch, there]) => {
      const size = there[0]?.size ?? 0;
      return there.length === size
        ? []
        : [`of ${size} entries that were appended with ${batch} ${there.length} are there`];
    });
  }

  #lost(
    found: readonly (Written | null)[],
    tags: ReadonlyMap<string, Written>,
    expected: ReadonlyMap<string, number>,
  ): readonly string[] {
    const root = found[0]?.tag ?? null;
    return [...expected].flatMap(([tag, kept]) => {
      const noted = this.#entries.get(tag);
      if (noted === undefined || (this.#mayBeDeleted && noted.root !== root)) return [];
      const written = tags.get(tag);
      if (written === undefined)
        return [`entry ${noted.seq}, ${tag}, was acknowledged, and ${found[noted.seq]?.tag ?? "nothing"} is there`];
      return written.version < kept
        ? [`version ${kept} of entry ${noted.seq}, ${tag}, was acknowledged, and ${written.version} is there`]
        : [];
    });
  }

  /** Returns the problems of a snapshot's number; null: there is no snapshot. */
  snapshotProblems(number: number | null): readonly string[] {
    const { attempted, kept } = this.#snapshot;
    if (number === null) return kept === 0 ? [] : [`snapshot ${kept} was acknowledged, and none is there`];
    return [
      ...(number < kept ? [`snapshot ${kept} was acknowledged, and ${number} is there`] : []),
      ...(number <= this.#snapshot.void ? [`snapshot ${number} was removed, and is there`] : []),
      ...(number > attempted ? [`snapshot ${number} was never saved`] : []),
    ];
  }

  /** Books everything that was found as flushed. */
  adopt(stored: readonly unknown[], snapshot: number | null): void {
    const found = new Map(
      stored.flatMap((entry) => writtenIn(this.#threadId, entry) ?? []).map((each) => [each.tag, each]),
    );
    for (const [tag, noted] of this.#entries) {
      const written = found.get(tag);
      if (written === undefined) this.#entries.delete(tag);
      else Object.assign(noted, { isThere: true, kept: written.version, attempted: written.version });
    }
    this.#mayBeDeleted = false;
    this.#voidSnapshots(false);
    if (snapshot === null) this.#voidSnapshots(true);
    else Object.assign(this.#snapshot, { kept: snapshot, mayBeVoid: this.#snapshot.void });
  }
}

const tokenIn = (tag: string): number => Number(tag.split("/")[1] ?? 0);
