import { contentText, type Message, type Part } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";

/** Returns a message as text, without its reasoning. Returns an error text if it has a part that is not text. */
export const plainText = ({ id, parts }: Message): Either.Either<string, string> => {
  const other = parts.map(({ type }) => notText[type]).find((what) => what !== null);
  return other === undefined
    ? Either.right(contentText(parts))
    : Either.left(
        `message ${id} has ${other}, for which the template has no place: take a template that has one, or a policy that leaves it out`,
      );
};

/** The names of parts that cannot be written as text; null for those that can. */
const notText: Readonly<Record<Part["type"], string | null>> = {
  text: null,
  data: null,
  reasoning: null,
  refusal: null,
  image: "an image",
  opaque: "an attachment",
  toolCall: "a tool call",
  toolResult: "a tool's result",
};
