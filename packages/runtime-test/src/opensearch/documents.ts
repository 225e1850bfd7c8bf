import type { Json, JsonObject } from "@colloquy/machine";
import { isObject, memberOf, written } from "./answer.ts";

/** The index type of each field, which determines how searches match and sort it. */
type Mapping = Readonly<Record<string, "keyword" | "text" | "date" | "long" | "flat_object">>;

export interface StoredDocument {
  readonly id: string;
  readonly version: number;
  readonly sequence: number;
  readonly source: JsonObject;
}

/** An index of the service; it does not exist until the first write creates it. */
export class DocumentIndex {
  exists = false;
  readonly name: string;
  readonly mapping: Mapping;
  readonly #prefix: string;
  readonly #documents = new Map<string, StoredDocument>();
  #ids = 0;
  #sequence = 0;

  constructor(name: string, prefix: string, mapping: Mapping) {
    this.name = name;
    this.mapping = mapping;
    this.#prefix = prefix;
  }

  /** Returns the id of the new document. */
  add(source: JsonObject): string {
    this.exists = true;
    const id = this.#prefix + String(++this.#ids).padStart(20 - this.#prefix.length, "0");
    this.#documents.set(id, { id, version: 1, sequence: this.#sequence++, source });
    return id;
  }

  get(id: string): StoredDocument | undefined {
    return this.#documents.get(id);
  }

  /** Merges changes into a document, objects member by member. It moves to the end, as in a Lucene segment. */
  update({ id, version, source }: StoredDocument, changes: JsonObject): JsonObject {
    const sequence = this.#sequence++;
    this.#documents.delete(id);
    this.#documents.set(id, { id, version: version + 1, sequence, source: merged(source, changes) });
    return {
      _index: this.name,
      _id: id,
      _version: version + 1,
      result: "updated",
      forced_refresh: true,
      _shards: { total: 1, successful: 1, failed: 0 },
      _seq_no: sequence,
      _primary_term: 1,
    };
  }

  remove(accepts: (document: StoredDocument) => boolean): void {
    for (const { id } of this.all().filter(accepts)) {
      this.#documents.delete(id);
      this.#sequence++;
    }
  }

  /** Returns the documents in the order of a search without a sort, or with equal sort values. */
  all(): readonly StoredDocument[] {
    return [...this.#documents.values()];
  }
}

export const oldestFirst =
  (field: "create_time" | "updated_time") =>
  (left: StoredDocument, right: StoredDocument): number =>
    Date.parse(written(left.source[field])) - Date.parse(written(right.source[field]));

export const newestFirst =
  (field: "create_time" | "updated_time") =>
  (left: StoredDocument, right: StoredDocument): number =>
    oldestFirst(field)(right, left);

/** Returns whether a document belongs to a user; to everybody on a service without its security plugin. */
export const isOwn =
  (user: string | null) =>
  ({ source }: StoredDocument): boolean =>
    user === null || source["user"] === user;

const merged = (old: JsonObject, changes: JsonObject): JsonObject => {
  const changed = Object.entries(changes).map(([name, value]): readonly [string, Json | undefined] => {
    const before = memberOf(old, name);
    return [name, isObject(before) && isObject(value) ? merged(before, value) : value];
  });
  return Object.fromEntries([...Object.entries(old), ...changed]);
};
