import { type Entry, isLater } from "../conversation/protocol/entry.ts";
import { firstEntry, laterEntry } from "../conversation/protocol/entry-forms.ts";

/**
 * Removes the content of an entry, and keeps its place, type and structure. "[redacted]" replaces texts, and `{}`
 * replaces arguments. Metadata, names of people (also of those who approved), provider fields and anything else that
 * could reveal the content are removed, also members that this version does not know. Identifiers stay, so that later
 * entries fold as before: ids, roles, tools and their versions, fields, annotations, checkpoints, models. So do
 * single-word finish reasons and failure codes, times and usage. Put nothing private into identifiers. Redacting an
 * entry twice has no further effect.
 */
export const redactEntry = (entry: Entry): Entry => ({
  ...(isLater(entry) ? laterEntry.redact(entry) : firstEntry.redact(entry)),
  redacted: true,
});
