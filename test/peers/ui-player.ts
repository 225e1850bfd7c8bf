import {
  type ModelMessage,
  convertToModelMessages,
  readUIMessageStream,
  type UIMessage,
  type UIMessageChunk,
} from "ai";
import { z } from "zod";
import { sentIn, serverOf, type Served, withoutRepeats } from "./served.ts";
import { line, type Player, promptsOf, viewed } from "./table.ts";

const step = z.union([
  /** Sends a message, and stops its turn at the first chunk of a type if one is given. */
  z.strictObject({ send: z.string(), stopAt: z.string().optional() }),
  /** Answers the calls that wait for approval, in their order. */
  z.strictObject({ decide: z.array(z.boolean()) }),
  /** Gives the output of the call that waits for the page, or fails it. */
  z.strictObject({ output: z.json() }),
  z.strictObject({ fail: z.string() }),
]);

const given = z.strictObject({ script: z.array(line), steps: z.array(step) });

/** Plays a page of the AI SDK: the SDK's own reader makes messages of the streams. */
export const playUi: Player = async (from, views) => {
  const { script, steps } = given.parse(from);
  const served = serverOf(script);
  const messages: UIMessage[] = [];
  const legs: (readonly UIMessageChunk[])[] = [];
  const errors: string[] = [];
  for (const each of steps) {
    if ("send" in each)
      messages.push({ id: `user-${messages.length}`, role: "user", parts: [{ type: "text", text: each.send }] });
    else messages.push(answered(messages.pop(), each));
    const chunks = await posted(served, messages, "send" in each ? each.stopAt : undefined);
    legs.push(chunks);
    const begun = messages.at(-1)?.role === "assistant" ? messages.pop() : undefined;
    const message = await messageOf(chunks, begun, errors);
    if (message !== undefined) messages.push(message);
  }
  const all = () => legs.map((chunks) => withoutRepeats(chunks.map(({ type }) => type)));
  return viewed(
    {
      chunks: () => all().map((types) => types.filter((type) => type !== "message-metadata")),
      all,
      fields: () => legs.map((chunks) => chunks.map(({ type, ...rest }) => [type, ...Object.keys(rest).toSorted()])),
      reasons: () =>
        legs.map((chunks) => chunks.flatMap((each) => (each.type === "finish" ? [each.finishReason] : []))),
      roles: () => messages.map(({ role }) => role),
      parts: () => messages.at(-1)?.parts.map(partOf),
      errors: () => errors,
      prompts: () => promptsOf(served.model),
      painted: async () => {
        const painted: UIMessage[] = await (await served.fetch("/ui/t/messages")).json();
        return painted.at(-1)?.parts.map(partOf);
      },
      converted: async () => (await convertToModelMessages(messages)).map(shapeOf),
    },
    views,
  );
};

const posted = async (
  served: Served,
  messages: readonly UIMessage[],
  stopAt: string | undefined,
): Promise<readonly UIMessageChunk[]> => {
  const response = await served.fetch("/ui", { id: "t", messages });
  let text = "";
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const isMet = stopAt !== undefined && !text.includes(`"${stopAt}"`) && piece.includes(`"${stopAt}"`);
    text += piece;
    if (isMet) await served.fetch("/ui/t/stop", {});
  }
  if (!response.ok) throw new Error(`${response.status}: ${text}`);
  return sentIn(text).flatMap(({ data }) => (data === "[DONE]" ? [] : [JSON.parse(data)]));
};

const messageOf = async (
  chunks: readonly UIMessageChunk[],
  message: UIMessage | undefined,
  errors: string[],
): Promise<UIMessage | undefined> => {
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
  const onError = (error: unknown) => void errors.push(error instanceof Error ? error.message : String(error));
  let last = message;
  for await (const seen of readUIMessageStream({ stream, onError, ...(message === undefined ? {} : { message }) }))
    last = seen;
  return last;
};

/** Puts a page's answer into the message that waits for it, as the SDK does. */
const answered = (
  message: UIMessage | undefined,
  answer: Exclude<z.infer<typeof step>, { send: string }>,
): UIMessage => {
  if (message === undefined) throw new Error("no message waits");
  const left = "decide" in answer ? [...answer.decide] : [];
  const parts = message.parts.map((part) => {
    if (!("state" in part) || !("toolCallId" in part)) return part;
    if ("decide" in answer)
      return part.state === "approval-requested"
        ? { ...part, state: "approval-responded", approval: { ...part.approval, approved: left.shift() ?? false } }
        : part;
    if (part.state !== "input-available") return part;
    return "output" in answer
      ? { ...part, state: "output-available", output: answer.output }
      : { ...part, state: "output-error", errorText: answer.fail };
  });
  // Cast: each part is the SDK's, in the state after its own.
  return { ...message, parts: parts as UIMessage["parts"] };
};

/** The members of a part that this protocol's tests compare. */
const partOf = (part: UIMessage["parts"][number]): readonly unknown[] => {
  if (part.type === "text" || part.type === "reasoning") return [part.type, part.text, part.state];
  if (!("toolCallId" in part)) return [part.type];
  const said = part.state === "output-available" ? part.output : part.state === "output-error" ? part.errorText : null;
  return [part.type, part.state, part.input ?? null, said];
};

const shapeOf = ({ role, content }: ModelMessage): readonly unknown[] => [
  role,
  ...(typeof content === "string" ? ["text"] : content.map(({ type }) => type)),
];
