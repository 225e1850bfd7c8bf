import * as Either from "fp-ts/lib/Either.js";
import { z } from "zod";
import { type Ask, refused, type Request } from "./ask.ts";
import type { Answer, Info, MemoryMessage, MemoryPage, MemoryProblem, MessageDraft } from "./memory-client.ts";

export const base: readonly string[] = ["_plugins", "_ml", "memory"];

/** A field that may be missing, null or blank, of which the last two are the first. */
export const text = z
  .string()
  .nullish()
  .transform((given) => (given == null || given.trim() === "" ? undefined : given));

/** `additional_info` as an object of any values. */
export const infoObject = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((given) => infoOf(given ?? {}));

export const infoOf = (values: Readonly<Record<string, unknown>>): Info =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === "string" ? value : (JSON.stringify(value) ?? ""),
    ]),
  );

/** The texts that messages of either age have, as far as they are there. */
export const saidSchema = z.object({ input: text, prompt_template: text, response: text, origin: text });

export const saidIn = ({ input, prompt_template, response, origin }: z.infer<typeof saidSchema>): MessageDraft => ({
  ...(input === undefined ? {} : { input }),
  ...(prompt_template === undefined ? {} : { promptTemplate: prompt_template }),
  ...(response === undefined ? {} : { response }),
  ...(origin === undefined ? {} : { origin }),
});

/** The problem of a draft that says nothing, which the service refuses or keeps as an empty message; null for others. */
export const problemOfDraft = ({ input, promptTemplate, response, origin, info = {} }: MessageDraft) =>
  [input, promptTemplate, response, origin, ...Object.values(info)].every((said) => (said ?? "").trim() === "")
    ? refused("a message needs a text: give it an input, a response, a promptTemplate, an origin or info")
    : null;

/** The body of a draft, but for what the ages write differently. */
export const bodyOf = ({ input, promptTemplate, response, origin }: MessageDraft): object => ({
  input,
  prompt_template: promptTemplate,
  response,
  origin,
});

/** A page of a list, which has the name of what it lists. */
export const pageOf = async <Item>(
  ask: Ask,
  path: readonly string[],
  from: number,
  name: string,
  item: z.ZodType<Item>,
): Answer<MemoryPage<Item>> => {
  if (!(Number.isSafeInteger(from) && from >= 0))
    return refused(`a page can't begin at ${from}: give a whole number from 0`);
  const schema = z.object({
    [name]: z.array(item),
    // One that does not lead on would be read for ever.
    next_token: z.int().gt(from).optional(),
  });
  const request: Request = { method: "GET", path, query: { max_results: pageSize, next_token: from } };
  return Either.map((read: Record<string, unknown>) => {
    // As the schema read it, under the name that it was given.
    const items = read[name] as readonly Item[];
    // Behind an empty page is nothing, whatever it says.
    return { items, next: items.length === 0 ? null : ((read["next_token"] as number | undefined) ?? null) };
  })(await ask(request, schema));
};

/**
 * All messages of a memory, oldest first whatever the order of the pages: each once, although others write meanwhile.
 * Equal times stay as they come, which is the order of writing at any version.
 */
export const allOf = async (
  page: (from: number) => Answer<MemoryPage<MemoryMessage>>,
): Promise<Either.Either<MemoryProblem, readonly MemoryMessage[]>> => {
  const found = new Map<string, MemoryMessage>();
  for (let from: number | null = 0; from !== null;) {
    const read: Awaited<ReturnType<typeof page>> = await page(from);
    if (Either.isLeft(read)) return read;
    for (const message of read.right.items) if (!found.has(message.id)) found.set(message.id, message);
    from = read.right.next;
  }
  return Either.right(
    [...found.values()].toSorted((left, right) => Date.parse(left.createdAt) - Date.parse(right.createdAt)),
  );
};

const pageSize = 100;
