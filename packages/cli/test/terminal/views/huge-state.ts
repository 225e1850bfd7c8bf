import { type Message, type State, toArray, turnNumbered } from "@colloquy/machine";

/** A thread of so many turns without a branch, each like the first one of a state, and how often one of its messages was looked into. */
export const hugeState = (like: State, count: number): { readonly state: State; readonly looks: () => number } => {
  const first = turnNumbered(like, 1);
  if (first === undefined) throw new Error("the state has no turn");
  let looked = 0;
  const messages = toArray(first.messages).map((message): Message => ({
    ...message,
    get parts() {
      looked += 1;
      return message.parts;
    },
  }));
  const turns = Array.from({ length: count }, (_, index) => ({
    ...first,
    number: index + 1,
    parent: index,
    messages: { length: messages.length, levels: [messages] },
    place: { ...first.place, turns: index + 1, straightFrom: 1 },
  }));
  const { conversation } = like.context;
  const huge = { ...conversation, turns: { length: count, levels: [turns] }, head: count };
  return { state: { ...like, context: { ...like.context, conversation: huge } }, looks: () => looked };
};
