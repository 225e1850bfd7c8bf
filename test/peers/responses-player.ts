import { z } from "zod";
import { type Sent, sentIn, serverOf, type Served, withoutRepeats } from "./served.ts";
import { line, type Player, promptsOf, viewed } from "./table.ts";

const given = z.strictObject({
  script: z.array(line),
  /** Bodies of requests. `$response` is the id of the last response, `$call` that of its first call. */
  posts: z.array(z.record(z.string(), z.json())),
});

const response = z.looseObject({
  id: z.string(),
  status: z.string(),
  conversation: z.object({ id: z.string() }),
  metadata: z.record(z.string(), z.string()),
  output: z.array(
    z.looseObject({
      type: z.string(),
      status: z.string().optional(),
      call_id: z.string().optional(),
      name: z.string().optional(),
      content: z.array(z.looseObject({ text: z.string().optional() })).optional(),
    }),
  ),
});
type Answer = z.infer<typeof response>;

/** Plays requests of the Responses API, plain and streamed. */
export const playResponses: Player = async (from, views) => {
  const { script, posts } = given.parse(from);
  const served = serverOf(script);
  const answers: Answer[] = [];
  const streams: (readonly Sent[])[] = [];
  const refused: unknown[] = [];
  const types: (string | null)[] = [];
  for (const body of posts) {
    const last = answers.at(-1);
    const text = JSON.stringify(body)
      .replaceAll("$response", last?.id ?? "")
      .replaceAll("$call", last?.output.find(({ call_id: id }) => id !== undefined)?.call_id ?? "");
    const { answer, error, sent, type } = await answerOf(served, JSON.parse(text));
    if (answer !== null) answers.push(answer);
    if (error !== null) refused.push(error);
    if (sent !== null) streams.push(sent);
    types.push(type);
  }
  const events = () => streams.map((sent) => sent.flatMap(({ data }) => (data === "[DONE]" ? [] : [eventIn(data)])));
  return viewed(
    {
      statuses: () => answers.map(({ status }) => status),
      output: () =>
        answers.map(({ output }) => output.map(({ type, status }) => (status === undefined ? [type] : [type, status]))),
      texts: () => answers.map(({ output }) => output.flatMap(({ content = [] }) => content.map(({ text }) => text))),
      errors: () => refused,
      // The first response of each conversation, by its number.
      conversations: () =>
        answers.map(({ conversation: { id } }) => answers.findIndex((other) => other.conversation.id === id) + 1),
      metadata: () => answers.map(({ metadata }) => metadata),
      prompts: () => promptsOf(served.model),
      offered: () =>
        served.model.calls.map(({ tools }) => (tools ?? []).map(({ name }) => name).filter((name) => !ours.has(name))),
      events: () => events().map((each) => withoutRepeats(each.map(({ type }) => type.replace(/^response\./u, "")))),
      // Each item as it is added: type, state, and role or name.
      added: () =>
        events().map((each) =>
          each.flatMap(({ type, item }) =>
            type === "response.output_item.added" && item !== undefined
              ? [[item.type, item.status, item.role ?? item.name ?? null]]
              : [],
          ),
        ),
      numbers: () => events().map((each) => each.every(({ sequence_number: number }, index) => number === index)),
      named: () =>
        streams.map((sent) => sent.every(({ event, data }) => data === "[DONE]" || event === eventIn(data).type)),
      last: () => streams.map((sent) => sent.at(-1)?.data),
      contentTypes: () => types,
    },
    views,
  );
};

/** The tools of the server itself. */
const ours: ReadonlySet<string> = new Set(["weather", "broken", "pay"]);

const event = z.looseObject({
  type: z.string(),
  sequence_number: z.number().optional(),
  response: response.optional(),
  item: z
    .looseObject({
      type: z.string(),
      status: z.string().optional(),
      role: z.string().optional(),
      name: z.string().optional(),
    })
    .optional(),
});

const eventIn = (data: string): z.infer<typeof event> => event.parse(JSON.parse(data));

const answerOf = async (served: Served, body: object) => {
  const answered = await served.fetch("/v1/responses", body);
  const type = answered.headers.get("content-type")?.split(";")[0] ?? null;
  const text = await answered.text();
  if (!answered.ok) {
    const { error } = z.object({ error: z.object({ type: z.string() }) }).parse(JSON.parse(text));
    return { answer: null, error: [answered.status, error.type], sent: null, type };
  }
  if (type !== "text/event-stream") return { answer: response.parse(JSON.parse(text)), error: null, sent: null, type };
  const sent = sentIn(text);
  const last = sent.findLast(({ data }) => data !== "[DONE]");
  return { answer: (last && eventIn(last.data).response) ?? null, error: null, sent, type };
};
