import { type Chunks, type Message, type State, toArray, turnNumbered } from "@colloquy/machine";

/** Makes a thread of `count` turns like a state's first one, without branches, and counts the reads of one message. */
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
  const huge = { ...conversation, turns: chunked(turns), head: count };
  return { state: { ...like, context: { ...like.context, conversation: huge } }, looks: () => looked };
};

/** Makes a list in the form of states: chunks of 32, and chunks of those. */
const chunked = <Element>(elements: readonly Element[]): Chunks<Element> => {
  const levels: unknown[][] = [];
  for (let nodes: unknown[] = [...elements]; nodes.length > 0;) {
    const whole = nodes.length - (nodes.length % 32);
    levels.push(nodes.slice(whole));
    nodes = Array.from({ length: whole / 32 }, (_, index) => nodes.slice(index * 32, (index + 1) * 32));
  }
  // Cast: each level holds lists of the level below it.
  return { length: elements.length, levels: levels as Chunks<Element>["levels"] };
};
