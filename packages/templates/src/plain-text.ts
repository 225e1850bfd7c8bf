import { contentText, type Message, type Part } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";

/** What a message says, as text alone: reasoning is left aside. Left, a sentence: it has a part of a kind that is no text. */
export const plainText = ({ id, parts }: Message): Either.Either<string, string> => {
  const other = parts.map(({ type }) => notText[type]).find((what) => what !== null);
  return other === undefined
    ? Either.right(contentText(parts))
    : Either.left(
        `message ${id} has ${other}, for which the template has no place: take a template that has one, or a policy that leaves it out`,
      );
};

/** What a part is called that can't be said as text; null for one that can. */
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
