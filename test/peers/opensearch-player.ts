import { openSearchServer } from "@colloquy/runtime-test/opensearch";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { requested } from "../../packages/runtime-test/test/opensearch/request.ts";
import { type Player, viewed } from "./table.ts";

const given = z.strictObject({
  version: z.enum(["2.11", "2.12", "3.0"]).default("3.0"),
  /** Requests: method, path below `/_plugins/_ml/memory`, and a body. `$1` is the id that the first of them made. */
  steps: z.array(z.tuple([z.string(), z.string()]).rest(z.json())),
});

const document = z.looseObject({ memory_id: z.string().optional(), message_id: z.string().optional() });
const conversation = z.looseObject({ conversation_id: z.string().optional(), interaction_id: z.string().optional() });
const answer = document.extend({
  ...conversation.shape,
  memories: z.array(document).optional(),
  messages: z.array(document).optional(),
  traces: z.array(document).optional(),
  conversations: z.array(conversation).optional(),
  interactions: z.array(conversation).optional(),
  hits: z.looseObject({ hits: z.array(z.looseObject({ _id: z.string() })) }).optional(),
});

/** Plays requests of the memory API of OpenSearch on its double. */
export const playOpenSearch: Player = async (from, views) => {
  const { version, steps } = given.parse(from);
  const server = await openSearchServer({ version });
  onTestFinished(() => server.close());
  const ids: (string | undefined)[] = [];
  const filled = (text: string): string => text.replaceAll(/\$(\d+)/gu, (_, at: string) => ids[Number(at) - 1] ?? at);
  const named = (id: string | undefined): string => {
    const at = ids.indexOf(id);
    return at === -1 ? "?" : `$${at + 1}`;
  };
  const answers: unknown[] = [];
  for (const [method, path, body] of steps) {
    const sent = body === undefined ? {} : { body: JSON.parse(filled(JSON.stringify(body))) };
    const base = version === "2.11" ? "/conversation" : "";
    const { status, body: got } = await requested(`${server.url}/_plugins/_ml/memory${base}${filled(path)}`, {
      method,
      ...sent,
    });
    const read = answer.parse(got);
    const made = idOf(read);
    ids.push(method === "POST" ? made : undefined);
    const list = read.memories ?? read.messages ?? read.traces ?? read.conversations ?? read.interactions;
    answers.push([
      status,
      ...(list === undefined ? [] : [list.map((each) => named(idOf(each)))]),
      ...(read.hits === undefined ? [] : [read.hits.hits.map(({ _id: id }) => named(id))]),
      ...(method === "GET" && list === undefined && read.hits === undefined && status === 200 ? [saidIn(read)] : []),
      ...(read["next_token"] === undefined ? [] : [read["next_token"]]),
      ...(read["success"] === undefined ? [] : [read["success"]]),
    ]);
  }
  return viewed({ answers: () => answers, last: () => answers.at(-1) }, views);
};

const idOf = (each: z.infer<typeof document> & z.infer<typeof conversation>): string | undefined =>
  each.message_id ?? each.interaction_id ?? each.memory_id ?? each.conversation_id;

/** The members of a document that its writer gave. */
const saidIn = (read: z.infer<typeof answer>): object =>
  Object.fromEntries(
    ["name", "input", "prompt_template", "response", "origin", "additional_info"].flatMap((name) =>
      read[name] === undefined || read[name] === null ? [] : [[name, read[name]]],
    ),
  );
