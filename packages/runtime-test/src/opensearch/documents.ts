import type { Json, JsonObject } from "@colloquy/machine";
import { isObject, memberOf } from "./answer.ts";

/** The index type of a field, which determines how searches match it. */
export type FieldType = "keyword" | "text" | "date" | "long" | "flat_object";

export type Mapping = Readonly<Record<string, FieldType>>;

export interface StoredDocument {
  readonly id: string;
  readonly version: number;
  readonly sequence: number;
  readonly source: JsonObject;
}

/** An index of the service; it does not exist until the first write creates it. */
export interface DocumentIndex {
  readonly name: string;
  readonly mapping: Mapping;
  exists(): boolean;
  create(): void;
  /** Returns the id of the new document. */
  add(source: JsonObject): string;
  get(id: string): StoredDocument | undefined;
  /**
   * Merges changes into a document, objects member by member. The document moves to the end, as in a Lucene segment.
   */
  update(id: string, changes: JsonObject): StoredDocument | undefined;
  remove(id: string): void;
  /** Returns all documents in the order of a search without a sort, or with equal sort values. */
  all(): readonly StoredDocument[];
}

export const documentIndex = (name: string, mapping: Mapping, prefix: string): DocumentIndex => {
  const documents = new Map<string, StoredDocument>();
  let created = false;
  let ids = 0;
  let sequence = 0;
  return {
    name,
    mapping,
    exists: () => created,
    create: () => {
      created = true;
    },
    add: (source) => {
      created = true;
      const id = prefix + String(++ids).padStart(20 - prefix.length, "0");
      documents.set(id, { id, version: 1, sequence: sequence++, source });
      return id;
    },
    get: (id) => documents.get(id),
    update: (id, changes) => {
      const old = documents.get(id);
      if (old === undefined) return undefined;
      const updated = { id, version: old.version + 1, sequence: sequence++, source: merged(old.source, changes) };
      documents.delete(id);
      documents.set(id, updated);
      return updated;
    },
    remove: (id) => {
      if (documents.delete(id)) sequence++;
    },
    all: () => [...documents.values()],
  };
};

/** Returns the service's acknowledgement of an update. */
export const updateResponse = (index: DocumentIndex, { id, version, sequence }: StoredDocument): JsonObject => ({
  _index: index.name,
  _id: id,
  _version: version,
  result: "updated",
  forced_refresh: true,
  _shards: { total: 1, successful: 1, failed: 0 },
  _seq_no: sequence,
  _primary_term: 1,
});

const merged = (old: JsonObject, changes: JsonObject): JsonObject => {
  const changed = Object.entries(changes).map(([name, value]): readonly [string, Json | undefined] => {
    const before = memberOf(old, name);
    return [name, isObject(before) && isObject(value) ? merged(before, value) : value];
  });
  return Object.fromEntries([...Object.entries(old), ...changed]);
};
